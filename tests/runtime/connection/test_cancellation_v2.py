"""Rules 20 and 21 in version 2, whose prompts are answered when they are accepted."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext, suppress
from importlib import import_module
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from acp_runtime import InternalError
from tests.runtime.connection.v2_peer import AgentV2, calling_v2, permission, serving_v2
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Link, prompt

CANCEL = {"method": "session/cancel", "params": {"sessionId": "s1"}}
BY_ID = {"method": "$/cancel_request", "params": {"requestId": 1}}


class Waiting(AgentV2):  # type: ignore[misc]
    """An agent whose prompts end only when they are cancelled."""

    async def session_prompt(self, request: Any, /) -> Any:
        await asyncio.Event().wait()


class Accepting(AgentV2):  # type: ignore[misc]
    """An agent that reports the message of a prompt, and does something before it answers the prompt.

    Attributes:
        update: the report.
    """

    update: Any = v2.SessionUpdateUserMessage(message_id="m", content=[])

    async def session_prompt(self, request: Any, /) -> Any:
        await self.client.session_update(session_id=request.session_id, update=self.update)
        await self.go_on()
        return v2.PromptResponse(message_id="m")

    async def go_on(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize("profile", ["v2_draft", "v2_draft_unstable"])
async def test_rule_21_a_client_that_cancels_a_session_answers_its_permission_requests(
    link: Link, profile: str
) -> None:
    version: Any = import_module(f"acp_bindings.{profile}")

    class Thinking(version.Client):  # type: ignore[misc]
        async def session_update(self, notification: Any, /) -> None:
            raise AssertionError

        async def session_request_permission(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

    async with calling_v2(link, lambda _: Thinking(), profile, eof_grace=0.05) as (agent, peer):
        await peer.send(permission("p1"), permission("p2", "other"), permission("p3"))
        assert await peer.until_quiet() == []
        await agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        outcomes = {answer["id"]: answer["result"]["outcome"] for answer in [await peer.receive() for _ in range(2)]}
        assert outcomes == {"p1": {"outcome": "cancelled"}, "p3": {"outcome": "cancelled"}}
        assert await peer.until_quiet() == []


async def test_rule_21_a_permission_request_after_session_cancel_is_handled(link: Link) -> None:
    async with calling_v2(link) as (agent, peer):
        await agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        await peer.send(permission("p1"))
        assert (await peer.receive())["result"]["outcome"] == {"outcome": "selected", "optionId": "o"}


async def test_rule_19_cancelling_the_call_of_a_prompt_does_not_cancel_the_session(link: Link) -> None:
    async with calling_v2(link) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="s1", prompt=[v2.ContentBlockText(text="hi")]))
        id = (await peer.receive())["id"]
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        assert await peer.receive() == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("overrides", [False, True], ids=["the default", "an override that calls it"])
async def test_rule_21_session_cancel_cancels_prompts_that_are_not_accepted(link: Link, overrides: bool) -> None:
    class Overriding(Waiting):
        async def session_cancel(self, notification: Any, /) -> None:
            await super().session_cancel(notification)

    async with serving_v2(link, Overriding if overrides else Waiting) as peer:
        await peer.send(prompt(1), prompt(2, "other"))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)
        assert await peer.until_quiet() == []


async def test_rule_21_a_prompt_that_fails_because_its_session_was_cancelled_is_answered_cancelled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Wrapping(AgentV2):  # type: ignore[misc]
        async def session_prompt(self, request: Any, /) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise InternalError("the model failed") from None

    async with serving_v2(link, Wrapping) as peer:
        await peer.send(prompt(1))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert (await peer.receive())["error"]["code"] == -32800
    assert "the model failed" in caplog.text


@pytest.mark.parametrize("profile", ["v2_draft", "v2_draft_unstable"])
async def test_rule_20_a_cancelled_permission_request_has_the_outcome_cancelled(link: Link, profile: str) -> None:
    version: Any = import_module(f"acp_bindings.{profile}")
    selected = {"outcome": "selected", "optionId": "o"}
    started = asyncio.Event()

    class Asking(version.Client):  # type: ignore[misc]
        async def session_update(self, notification: Any, /) -> None:
            raise AssertionError

        async def session_request_permission(self, request: Any, /) -> Any:
            started.set()
            with suppress(asyncio.CancelledError) if request.session_id == "answered" else nullcontext():
                await asyncio.Event().wait()
            return version.RequestPermissionResponse.model_validate({"outcome": selected})

    async with calling_v2(link, lambda _: Asking(), profile) as (_, peer):
        for session, outcome in (("s1", {"outcome": "cancelled"}), ("answered", selected)):
            await peer.send(permission(1, session))
            await started.wait()
            await peer.send(BY_ID)
            assert (await peer.receive())["result"]["outcome"] == outcome
            started.clear()
        # Cancelled before its handler begins.
        await peer.send(permission(1), BY_ID)
        assert (await peer.receive())["result"]["outcome"] == {"outcome": "cancelled"}


async def test_rule_20_an_accepted_prompt_is_not_cancelled_by_its_id(link: Link) -> None:
    class Finishing(Accepting):
        async def go_on(self) -> None:
            await may_end.wait()
            finished.append("m")

    may_end, finished = asyncio.Event(), list[str]()
    async with serving_v2(link, Finishing) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["params"]["update"]["sessionUpdate"] == "user_message"
        await peer.send(BY_ID)
        assert await peer.until_quiet() == []
        may_end.set()
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"messageId": "m"}}
        assert finished == ["m"]


async def test_rule_20_a_prompt_that_is_not_accepted_is_cancelled_by_its_id(link: Link) -> None:
    async with serving_v2(link, Waiting) as peer:
        await peer.send(prompt(1), BY_ID)
        assert (await peer.receive())["error"]["code"] == -32800


@pytest.mark.parametrize("error", [InternalError("late"), RuntimeError("late"), None], ids=repr)
@pytest.mark.parametrize("kind", ["message", "chunk", "task"])
async def test_rule_21_an_accepted_prompt_is_never_answered_with_an_error(
    link: Link, kind: str, error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Accepting):
        if kind == "chunk":
            update = v2.SessionUpdateUserMessageChunk(message_id="m", content=v2.ContentBlockText(text="hi"))

        async def session_prompt(self, request: Any, /) -> Any:
            if kind == "task":
                return await asyncio.create_task(super().session_prompt(request))
            return await super().session_prompt(request)

        async def go_on(self) -> None:
            if error is None:  # wrong result
                return
            raise error

    class Wrong(Failing):
        async def session_prompt(self, request: Any, /) -> Any:
            await super().session_prompt(request)

    async with serving_v2(link, Failing if error else Wrong) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["method"] == "session/update"
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"messageId": "m"}}
    assert "The handler of session/prompt failed" in caplog.text


@pytest.mark.parametrize("by", ["session/cancel", "EOF"])
async def test_rule_21_an_accepted_prompt_that_is_cancelled_has_its_result(link: Link, by: str) -> None:
    async with serving_v2(link, Accepting, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["method"] == "session/update"
        await (peer.end() if by == "EOF" else peer.send(CANCEL))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"messageId": "m"}}


@pytest.mark.parametrize("sent", ["another kind of update", "another session", "another request"])
async def test_rule_21_other_updates_do_not_accept_a_prompt(link: Link, sent: str) -> None:
    class Failing(Accepting):
        if sent == "another kind of update":
            update = v2.SessionUpdateAgentMessage(message_id="a", content=[])

        async def session_prompt(self, request: Any, /) -> Any:
            if sent != "another kind of update":
                await updated.wait()
                raise InternalError("refused")
            return await super().session_prompt(request)

        async def go_on(self) -> None:
            raise InternalError("refused")

        async def session_list(self, request: Any, /) -> Any:
            await self.client.session_update(session_id="s1", update=self.update)
            updated.set()
            return v2.ListSessionsResponse(sessions=[])

    updated = asyncio.Event()
    async with serving_v2(link, Failing) as peer:
        if sent == "another session":
            await peer.send(prompt(1, "s2"), {"id": 2, "method": "session/list"})
        else:
            await peer.send(prompt(1), {"id": 2, "method": "session/list"})
        answers = [await peer.receive() for _ in range(3 + (sent == "another kind of update"))]
        errors = [answer["error"]["message"] for answer in answers if answer.get("id") == 1]
        assert errors == ["refused"]


async def test_rule_21_without_guards_an_update_may_lack_the_parts_of_acceptance(link: Link) -> None:
    class Raw(AgentV2):  # type: ignore[misc]
        async def ext_request(self, method: str, params: Any) -> Any:
            await self.client.ext_notification("session/update", params)

    async with serving_v2(link, Raw, guards="off") as peer:
        for params in ({"sessionId": "s1"}, {"sessionId": "s1", "update": {"sessionUpdate": "user_message"}}):
            await peer.send({"id": 1, "method": "_say", "params": params})
            assert (await peer.receive())["params"] == params
            assert (await peer.receive())["id"] == 1


async def test_rule_21_a_prompt_may_be_accepted_by_any_handler_or_task(link: Link) -> None:
    class Replaying(AgentV2):  # type: ignore[misc]
        async def ext_request(self, method: str, params: Any) -> Any:
            await self.ext_notification(method, params)

        async def ext_notification(self, method: str, params: Any) -> None:
            await self.client.session_update(session_id="s1", update=Accepting.update)

    factory = RecordingFactory(Replaying)
    async with serving_v2(link, factory) as peer:
        params = {"sessionId": "s1"}
        await peer.send({"method": "_replay", "params": params}, {"id": 1, "method": "_replay", "params": params})
        await factory.handler.ext_notification("_replay", None)
        messages = [await peer.receive() for _ in range(4)]
        assert [message.get("method", message.get("id")) for message in messages].count("session/update") == 3
        assert {"jsonrpc": "2.0", "id": 1, "result": None} in messages


async def test_rule_21_the_first_message_of_a_prompt_is_its_result(link: Link) -> None:
    class Twice(Accepting):
        async def go_on(self) -> None:
            update = v2.SessionUpdateUserMessage(message_id="second", content=[])
            await self.client.session_update(session_id="s1", update=update)
            raise InternalError("late")

    async with serving_v2(link, Twice) as peer:
        await peer.send(prompt(1))
        assert [(await peer.receive())["method"] for _ in range(2)] == ["session/update"] * 2
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"messageId": "m"}}


async def test_rule_21_a_message_of_another_session_does_not_accept_a_prompt(link: Link) -> None:
    class Elsewhere(Accepting):
        async def session_prompt(self, request: Any, /) -> Any:
            await self.client.session_update(session_id="s2", update=self.update)
            raise InternalError("refused")

    async with serving_v2(link, Elsewhere) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["method"] == "session/update"
        assert (await peer.receive())["error"]["message"] == "refused"


async def test_rule_21_a_message_on_another_connection_does_not_accept_a_prompt(link: Link) -> None:
    class Broadcasting(AgentV2):  # type: ignore[misc]
        async def session_prompt(self, request: Any, /) -> Any:
            await others[0].client.session_update(session_id=request.session_id, update=Accepting.update)
            raise InternalError("refused")

    def other(client: Any) -> Any:
        others.append(AgentV2(client))
        return others[0]

    others: list[Any] = []
    async with serving_v2(link, other) as other_peer, serving_v2(link, Broadcasting) as peer:
        await peer.send(prompt(1))
        assert (await other_peer.receive())["method"] == "session/update"
        assert (await peer.receive())["error"]["message"] == "refused"
