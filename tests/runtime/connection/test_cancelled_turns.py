"""Rule 21: cancelling turns, and rule 13 for questions of cancelled turns."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from typing import Any

import pytest

from acp_bindings.v1 import (
    CancelNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    PromptRequest,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
)
from acp_runtime import InternalError
from tests.support.runtime.peer import LINKS, Link, PlainAgent, PlainClient, calling, line, prompt, serving

CANCEL = {"method": "session/cancel", "params": {"sessionId": "s1"}}

CLOSE = {"method": "session/close", "params": {"sessionId": "s1"}}


class Waiting(PlainAgent):
    """An agent whose prompts end only when they are cancelled."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await asyncio.Event().wait()
        raise AssertionError


class Deaf(Waiting):
    """An agent that doesn't cancel prompts."""

    async def session_cancel(self, notification: CancelNotification, /) -> None:
        pass


async def test_rule_21_a_cancelled_turn_is_answered_with_a_result(link: Link) -> None:
    async with serving(link, Waiting) as peer:
        await peer.send(prompt(1), prompt(2, "other"), CANCEL)
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}}
        assert await peer.until_quiet() == []
        await peer.send({"method": "session/cancel", "params": {"sessionId": "other"}})
        assert (await peer.receive())["id"] == 2


async def test_rule_21_a_cancelled_turn_is_a_result_although_its_handler_raises(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Wrapping(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise InternalError("the model failed") from None
            raise AssertionError

    async with serving(link, Wrapping) as peer:
        await peer.send(prompt(1))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}
        await peer.send(prompt(2))
        assert await peer.until_quiet() == []
        await peer.send({"method": "$/cancel_request", "params": {"requestId": 2}})
        assert (await peer.receive())["error"]["message"] == "the model failed"
    assert len(caplog.records) == 1  # an error that is sent isn't logged


async def test_rule_21_session_cancel_applies_to_the_turn_in_flight_when_it_arrives(link: Link) -> None:
    async with serving(link, Waiting) as peer:
        await peer.send(CANCEL, prompt(1), CANCEL, prompt(2))
        assert (await peer.receive())["id"] == 1
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert (await peer.receive())["id"] == 2


@pytest.mark.parametrize("overrides", [False, True], ids=["the default", "an override that calls it"])
@pytest.mark.parametrize("id_first", [False, True], ids=["the turn first", "the id first"])
async def test_rule_21_a_turn_cancelled_by_session_and_by_id_is_interrupted_once(
    link: Link, id_first: bool, overrides: bool
) -> None:
    class Tidy(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                await asyncio.Event().wait()
            finally:
                begun.set()
                await cleaning.wait()
                cleaned.append(request.session_id)
            raise AssertionError

    class Overriding(Tidy):
        async def session_cancel(self, notification: CancelNotification, /) -> None:
            await super().session_cancel(notification)

    cleaned: list[str] = []
    begun, cleaning = asyncio.Event(), asyncio.Event()
    async with serving(link, Overriding if overrides else Tidy) as peer:
        await peer.send(prompt(1))
        await peer.until_quiet()
        both: list[Any] = [CANCEL, {"method": "$/cancel_request", "params": {"requestId": 1}}]
        first, second = reversed(both) if id_first else both
        await peer.send(first)
        await begun.wait()
        await peer.send(second)
        assert await peer.until_quiet() == []
        cleaning.set()
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}
    assert cleaned == ["s1"]


async def test_rule_21_a_handler_of_another_message_may_cancel_the_turns_of_a_session(link: Link) -> None:
    class Closing(Waiting):
        async def session_close(self, request: CloseSessionRequest, /) -> CloseSessionResponse:
            await self.session_cancel(CancelNotification(session_id=request.session_id))
            return CloseSessionResponse()

    async with serving(link, Closing, high_water_messages=3, eof_grace=0.05) as peer:
        waiting = prompt(4)
        await peer.send(prompt(1, "other"), prompt(2), {**CLOSE, "id": 3}, waiting)
        answers = [await peer.receive() for _ in range(3)]
        assert {answer["id"]: answer["result"] for answer in answers} == {
            2: {"stopReason": "cancelled"},
            3: {},
            4: {"stopReason": "cancelled"},
        }
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("method", ["close", "delete"])
async def test_rule_21_closing_or_deleting_a_session_cancels_its_turn(link: Link, method: str) -> None:
    ended: list[str] = []

    class Ending(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(request.session_id)
            raise AssertionError

        async def session_close(self, request: CloseSessionRequest, /) -> CloseSessionResponse:
            return CloseSessionResponse()

        async def session_delete(self, request: DeleteSessionRequest, /) -> DeleteSessionResponse:
            return DeleteSessionResponse()

    async with serving(link, Ending, eof_grace=0.05) as peer:
        await peer.send(prompt(1, "other"), prompt(2))
        assert await peer.until_quiet() == []
        await peer.send({"id": 3, "method": f"session/{method}", "params": {"sessionId": "s1"}})
        answers = [await peer.receive() for _ in range(2)]
        assert {answer["id"]: answer["result"] for answer in answers} == {2: {"stopReason": "cancelled"}, 3: {}}
        assert ended == ["s1"]
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("agent", ["that can't close sessions", "that decides about its turns"])
async def test_rule_21_closing_a_session_leaves_its_turn_to_an_agent(link: Link, agent: str) -> None:
    class Closing(Deaf):
        async def session_close(self, request: CloseSessionRequest, /) -> CloseSessionResponse:
            return CloseSessionResponse()

    async with serving(link, Waiting if "can't" in agent else Closing, eof_grace=0.05) as peer:
        await peer.send(prompt(1), {**CLOSE, "id": 2})
        assert (await peer.receive())["id"] == 2
        assert await peer.until_quiet() == []


async def test_rule_21_the_default_of_session_cancel_does_nothing_outside_of_a_handler(link: Link) -> None:
    class Late(Waiting):
        async def ext_request(self, method: str, params: Any, /) -> Any:
            later.append(asyncio.create_task(self.cancel_later()))

        async def cancel_later(self) -> None:
            await ended.wait()
            await self.session_cancel(CancelNotification(session_id="s1"))

    ended, later = asyncio.Event(), list[asyncio.Task[None]]()
    async with serving(link, Late, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        await peer.call("_later")
        ended.set()
        await later[0]
        assert await peer.until_quiet() == []
    client: Any = None
    await Late(client).session_cancel(CancelNotification(session_id="s1"))


async def test_rule_21_cancelling_a_turn_answers_its_permission_requests(link: Link) -> None:
    class Thinking(PlainClient):
        async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
            await asyncio.Event().wait()
            raise AssertionError

    async with calling(link, Thinking, eof_grace=0.05) as (agent, peer):
        for id, session in (("p1", "s1"), ("p2", "other")):
            params = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []}
            await peer.send({"id": id, "method": "session/request_permission", "params": params})
        assert await peer.until_quiet() == []
        await agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        cancelled = {"jsonrpc": "2.0", "id": "p1", "result": {"outcome": {"outcome": "cancelled"}}}
        assert await peer.receive() == cancelled
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("error", [RuntimeError("The dialog was closed."), InternalError("No dialog")])
async def test_rule_13_a_question_that_fails_after_its_turn_was_cancelled_is_logged(
    link: Link, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    class Dismissed(PlainClient):
        async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise error from None
            raise AssertionError

    async with calling(link, Dismissed) as (agent, peer):
        params = {"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []}
        await peer.send({"id": "p", "method": "session/request_permission", "params": params})
        assert await peer.until_quiet() == []
        await agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        assert (await peer.receive())["result"] == {"outcome": {"outcome": "cancelled"}}
        assert await peer.until_quiet() == []
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.getMessage().startswith("The handler of session/request_permission failed")
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_rule_21_a_handler_of_an_extension_notification_may_cancel_turns(link: Link) -> None:
    class Stopping(Waiting):
        async def ext_notification(self, method: str, params: Any, /) -> None:
            await self.session_cancel(CancelNotification(session_id=params["sessionId"]))

    async with serving(link, Stopping) as peer:
        await peer.send(prompt(1), {"method": "_stop", "params": {"sessionId": "s1"}})
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}


async def test_rule_21_an_agent_that_overrides_session_cancel_decides_about_its_turns(link: Link) -> None:
    may_end = asyncio.Event()

    class Deciding(Deaf):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await may_end.wait()
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Deciding) as peer:
        await peer.send(prompt(1))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert await peer.until_quiet() == []
        may_end.set()
        assert (await peer.receive())["result"] == {"stopReason": "end_turn"}


async def test_rule_21_a_turn_that_has_not_begun_is_cancelled_for_every_agent(link: Link) -> None:
    async with serving(link, Deaf) as peer:
        await peer.send(line(prompt(1)) + line(CANCEL))
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}


async def test_rule_21_a_turn_is_cancelled_although_an_earlier_notification_is_being_handled(link: Link) -> None:
    class Busy(Waiting):
        async def ext_notification(self, method: str, params: Any) -> None:
            await may_end.wait()

    may_end = asyncio.Event()
    async with serving(link, Busy) as peer:
        await peer.send(prompt(1))
        assert await peer.until_quiet() == []
        await peer.send({"method": "_note", "params": {"sessionId": "s1"}}, CANCEL)
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}
        may_end.set()


async def test_rule_21_a_handler_of_another_message_may_cancel_a_session_without_turns(link: Link) -> None:
    class Cancelling(Waiting):
        async def ext_request(self, method: str, params: Any) -> Any:
            await self.session_cancel(CancelNotification(session_id="s1"))

    async with serving(link, Cancelling) as peer:
        assert (await peer.call("_cancel"))["result"] is None


async def test_rule_21_a_turn_that_an_agent_has_ended_itself_is_freed(link: Link) -> None:
    class Deciding(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            prompts.append(weakref.ref(request))
            await may_end.wait()
            return PromptResponse(stop_reason="refusal")

        async def session_cancel(self, notification: CancelNotification, /) -> None:
            may_end.set()

    prompts, may_end = list[weakref.ref[PromptRequest]](), asyncio.Event()
    async with serving(link, Deciding) as peer:
        await peer.send(prompt(1))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert (await peer.receive())["result"] == {"stopReason": "refusal"}
        await peer.until_quiet()
        gc.collect()
        assert [request() for request in prompts] == [None]


async def test_rule_18_cancelling_a_session_often_does_not_cost_more_for_many_prompts() -> None:
    async def lines_run(number: int) -> int:
        lines = 0

        def trace(frame: Any, event: str, _: Any) -> Any:
            nonlocal lines
            if not frame.f_code.co_filename.endswith("connection/request.py"):
                return None
            lines += event == "line"
            return trace

        async with serving(LINKS["memory"], Deaf, eof_grace=0) as peer:
            await peer.send(*(prompt(id) for id in range(number)))
            await peer.until_quiet()
            sys.settrace(trace)
            try:
                await peer.send(*[CANCEL] * number)
                await peer.until_quiet()
            finally:
                sys.settrace(None)
        return lines

    assert await lines_run(200) < 3 * await lines_run(100)
