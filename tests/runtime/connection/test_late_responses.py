"""Rule 19: the messages of a cancelled prompt, and the next prompt's wait for its late response."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from acp_bindings.v1 import (
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    connect_in_process,
)
from acp_runtime import ConnectionClosed
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import LINKS, Link, Peer, PlainAgent, PlainClient, calling, update

DONE: dict[str, Any] = {"stopReason": "end_turn"}
CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def ask(id: Any, session: str = "s1") -> dict[str, Any]:
    params: dict[str, Any] = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []}
    return {"id": id, "method": "session/request_permission", "params": params}


def turn(agent: RemoteAgent, session: str = "s1") -> asyncio.Task[PromptResponse]:
    return asyncio.ensure_future(agent.session_prompt(session_id=session, prompt=[]))


async def cancelled_turn(agent: RemoteAgent, peer: Peer) -> Any:
    """Cancel a prompt, and return its id. It has no response yet."""
    task = turn(agent)
    id = (await peer.receive())["id"]
    task.cancel()
    assert [(await peer.receive())["method"] for _ in range(2)] == ["session/cancel", "$/cancel_request"]
    with pytest.raises(asyncio.CancelledError):
        await task
    return id


class Thinking(PlainClient):
    """A client that never answers permission requests."""

    asked = 0

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        type(self).asked += 1
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize(
    "late", [{"result": DONE}, {"error": {"code": -32800, "message": "x"}}, {"result": {"bad": 1}}, {"result": None}]
)
async def test_rule_19_the_next_prompt_of_the_session_waits_for_the_late_response(
    link: Link, caplog: pytest.LogCaptureFixture, late: dict[str, Any]
) -> None:
    async with calling(link) as (agent, peer):
        id = await cancelled_turn(agent, peer)
        task = turn(agent)
        assert await peer.until_quiet() == []
        await peer.send({"id": id, **late})
        sent = await peer.receive()
        assert sent["method"] == "session/prompt"
        await peer.send({"id": sent["id"], "result": DONE})
        assert (await task).stop_reason == "end_turn"
    assert caplog.text == ""


async def test_rule_19_a_late_response_that_is_not_json_ends_the_wait(link: Link) -> None:
    async with calling(link) as (agent, peer):
        id = await cancelled_turn(agent, peer)
        task = turn(agent)
        await peer.send(b'{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}}\n' % id)
        sent = [await peer.receive(), await peer.receive()]
        prompted = next(message for message in sent if message.get("method") == "session/prompt")
        await peer.send({"id": prompted["id"], "result": DONE})
        assert (await task).stop_reason == "end_turn"


async def test_rule_19_sessions_and_other_calls_do_not_wait_for_each_other(link: Link) -> None:
    async with calling(link) as (agent, peer):
        await cancelled_turn(agent, peer)
        mode = asyncio.ensure_future(agent.session_set_mode(session_id="s1", mode_id="m"))
        sent = await peer.receive()
        assert sent["method"] == "session/set_mode"
        await peer.send({"id": sent["id"], "result": {}})
        await mode
        other = turn(agent, "s2")
        sent = await peer.receive()
        assert sent["params"]["sessionId"] == "s2"
        await peer.send({"id": sent["id"], "result": DONE})
        await other


async def test_rule_19_after_the_deadline_the_next_prompt_is_sent_with_a_warning(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link, late_answer_deadline=0.01) as (agent, peer):
        id = await cancelled_turn(agent, peer)
        task = turn(agent)
        sent = await peer.receive()
        assert sent["method"] == "session/prompt"
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "session/prompt" in caplog.text
        await peer.send({"id": id, "result": DONE}, {"id": sent["id"], "result": {"stopReason": "refusal"}})
        assert (await task).stop_reason == "refusal"
        await peer.send({"id": id, "result": DONE})
        again = turn(agent)
        await peer.answer(result=DONE)
        await again


async def test_rule_19_a_prompt_that_is_cancelled_while_it_waits_sends_nothing(link: Link) -> None:
    async with calling(link) as (agent, peer):
        await cancelled_turn(agent, peer)
        task = turn(agent)
        assert await peer.until_quiet() == []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await peer.until_quiet() == []


async def test_rule_19_the_next_prompt_waits_for_all_late_responses(link: Link) -> None:
    async with calling(link) as (agent, peer):
        tasks = [turn(agent), turn(agent)]
        ids = [(await peer.receive())["id"] for _ in tasks]
        for task in tasks:
            task.cancel()
        sent = [(await peer.receive())["method"] for _ in range(4)]
        assert sent == ["session/cancel", "$/cancel_request"] * 2
        again = turn(agent)
        await peer.send({"id": ids[0], "result": DONE})
        assert await peer.until_quiet() == []
        await peer.send({"id": ids[1], "result": DONE})
        await peer.answer(result=DONE)
        await again


async def test_rule_19_a_waiting_prompt_fails_when_the_agent_closes(link: Link) -> None:
    async with calling(link) as (agent, peer):
        await cancelled_turn(agent, peer)
        task = turn(agent)
        assert await peer.until_quiet() == []
        await peer.end()
        with pytest.raises(ConnectionClosed):
            await task


async def test_rule_19_every_kind_of_timeout_cancels_the_turn(link: Link) -> None:
    async with calling(link, late_answer_deadline=0) as (agent, peer):
        limits: list[asyncio.Timeout] = []

        async def unanswered() -> None:
            await agent.session_prompt(session_id="s1", prompt=[])

        async def timeout(call: Callable[[], Awaitable[None]] = unanswered) -> None:
            async with asyncio.timeout(None) as limit:
                limits.append(limit)
                await call()

        async def group() -> None:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(timeout())

        for call in (timeout(), timeout(lambda: asyncio.wait_for(unanswered(), 60)), group()):
            task = asyncio.create_task(call)
            assert (await peer.receive())["method"] == "session/prompt"
            limits[-1].reschedule(0)
            with pytest.raises((TimeoutError, ExceptionGroup)):
                await task
            methods = [(await peer.receive())["method"] for _ in range(2)]
            assert methods == ["session/cancel", "$/cancel_request"]


async def test_rule_19_permission_requests_of_a_cancelled_turn_are_answered_cancelled(link: Link) -> None:
    Thinking.asked = 0
    async with calling(link, Thinking, eof_grace=0.05) as (agent, peer):
        task = turn(agent)
        await peer.receive()
        await peer.send(ask("before"), ask("other", "s2"))
        assert await peer.until_quiet() == []
        task.cancel()
        messages = [await peer.receive() for _ in range(3)]
        assert messages[0]["method"] == "session/cancel"
        assert {"jsonrpc": "2.0", "id": "before", "result": CANCELLED} in messages
        await peer.send(ask("during"))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": "during", "result": CANCELLED}
        assert Thinking.asked == 2
        await peer.send(ask("during too", "s2"))
        assert await peer.until_quiet() == []
        assert Thinking.asked == 3


async def test_rule_21_permission_requests_after_session_cancel_are_answered_cancelled(link: Link) -> None:
    Thinking.asked = 0
    async with calling(link, Thinking, eof_grace=0.05) as (agent, peer):
        task = turn(agent)
        id = (await peer.receive())["id"]
        await agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        await peer.send(ask("during"))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": "during", "result": CANCELLED}
        await peer.send({"id": id, "result": {"stopReason": "cancelled"}})
        assert (await task).stop_reason == "cancelled"
        await peer.send(ask("after"))
        assert await peer.until_quiet() == []
        assert Thinking.asked == 1


@pytest.mark.parametrize("is_answered", [False, True])
async def test_rule_19_permission_requests_of_the_next_turn_are_handled(link: Link, is_answered: bool) -> None:
    async with calling(link, late_answer_deadline=10 if is_answered else 0.01) as (agent, peer):
        id = await cancelled_turn(agent, peer)
        if is_answered:
            await peer.send({"id": id, "result": DONE})
        task = turn(agent)
        sent = await peer.receive()
        await peer.send(ask("next"))
        assert (await peer.receive())["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        await peer.send({"id": sent["id"], "result": DONE})
        await task


async def test_rule_19_a_call_that_is_cancelled_when_its_response_is_here_sends_nothing(link: Link) -> None:
    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await may_end.wait()

    may_end = asyncio.Event()
    async with calling(link, Slow) as (agent, peer):
        task = turn(agent)
        id = (await peer.receive())["id"]
        await peer.send(update("s1", "x"), {"id": id, "result": DONE})
        assert await peer.until_quiet() == []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await peer.until_quiet() == []
        may_end.set()


async def test_rule_19_a_call_whose_coroutine_is_closed_is_cancelled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link) as (agent, peer):
        call: Any = agent.session_new(cwd="/", mcp_servers=[])
        call.send(None)
        call.close()
        sent = await peer.receive()
        assert sent["method"] == "session/new"
        assert (await peer.receive())["params"] == {"requestId": sent["id"]}
        assert agent.find_call(sent["id"]) is None
    assert caplog.records == []


async def test_rule_19_a_call_whose_coroutine_is_closed_in_another_thread_is_cancelled(link: Link) -> None:
    asyncio.get_running_loop().set_debug(True)  # so that asyncio checks the thread
    async with calling(link) as (agent, peer):
        call: Any = agent.session_new(cwd="/", mcp_servers=[])
        call.send(None)
        await asyncio.to_thread(call.close)
        sent = await peer.receive()
        assert (await peer.receive())["params"] == {"requestId": sent["id"]}


def test_rule_19_the_coroutine_of_a_call_can_be_closed_after_the_event_loop() -> None:
    class Busy(PlainAgent):
        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def begin() -> tuple[object, Any]:
        connection = connect_in_process(Busy, PlainClient)
        agent = await connection.__aenter__()
        await agent.initialize(protocol_version=1)
        call: Any = agent.session_new(cwd="/", mcp_servers=[])
        call.send(None)
        await begun.wait()
        return connection, call

    def ignore(*_: object) -> None:
        """Ignore the tasks of the connection, which never end."""

    begun = asyncio.Event()
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(ignore)
    connection, call = loop.run_until_complete(begin())
    loop.close()
    call.close()
    del connection
    gc.collect()


async def test_rule_19_a_cancelled_call_keeps_neither_params_nor_handled_message(link: Link) -> None:
    class Impatient(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            request = PromptRequest(session_id="other", prompt=[])
            kept.extend([weakref.ref(notification), weakref.ref(request)])
            with suppress(TimeoutError):
                async with asyncio.timeout(0):
                    await self.agent.request(request)

    kept = list[weakref.ref[Any]]()
    async with calling(link, Impatient) as (_, peer):
        await peer.send(update("s1", "x"))
        methods = [(await peer.receive())["method"] for _ in range(3)]
        assert methods == ["session/prompt", "session/cancel", "$/cancel_request"]
        await peer.until_quiet()
        gc.collect()
        assert [ref() for ref in kept] == [None, None]


async def test_rule_19_ten_thousand_cancelled_calls_are_remembered(caplog: pytest.LogCaptureFixture) -> None:
    async with calling(LINKS["memory"]) as (agent, peer):
        calls = [asyncio.create_task(agent.ext_request("_ping")) for _ in range(10_001)]
        await let_others_run(2)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        first = (await peer.receive())["id"]
        await peer.send({"id": first + 1, "result": None}, {"id": first, "result": None})
        await peer.until_quiet()
    assert [record.getMessage() for record in caplog.records] == [f"Ignored a response with an unknown id: {first}"]


async def test_rule_19_a_proxy_knows_whether_it_has_cancelled_the_newest_turn(link: Link) -> None:
    async with calling(link) as (agent, peer):
        for id in ("s1", "s2"):
            assert not agent.has_cancelled_turn(id)
        first = await cancelled_turn(agent, peer)
        assert agent.has_cancelled_turn("s1")
        assert not agent.has_cancelled_turn("s2")
        mode = asyncio.ensure_future(agent.session_set_mode(session_id="s1", mode_id="m"))
        await peer.answer(result={})
        await mode
        assert agent.has_cancelled_turn("s1")
        await peer.send({"id": first, "result": {"stopReason": "cancelled"}})
        newest = turn(agent)
        request = await peer.receive()
        assert not agent.has_cancelled_turn("s1")
        await peer.send({"id": request["id"], "result": DONE})
        await newest
