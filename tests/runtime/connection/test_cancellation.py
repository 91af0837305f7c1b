"""Rules 19 and 20: cancelling calls and requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse
from tests.support.runtime.peer import Link, PlainAgent, calling, prompt, serving


async def test_rule_19_cancelling_a_task_that_awaits_a_call_sends_cancel_request(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="s1", prompt=[]))
        id = (await peer.receive())["id"]
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await peer.receive() == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}}
        assert await peer.receive() == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}


async def test_rule_19_a_cancelled_call_that_is_not_a_turn_sends_only_cancel_request(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_set_mode(session_id="s1", mode_id="m"))
        id = (await peer.receive())["id"]
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await peer.receive() == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}
        assert await peer.until_quiet() == []


async def test_rule_19_the_late_response_to_a_cancelled_call_is_dropped_silently(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="s1", prompt=[]))
        id = (await peer.receive())["id"]
        call.cancel()
        assert [(await peer.receive())["method"] for _ in range(2)] == ["session/cancel", "$/cancel_request"]
        await peer.send({"id": id, "error": {"code": -32800, "message": "cancelled"}})
        assert await peer.until_quiet() == []
    assert caplog.text == ""


async def test_rule_20_a_cancelled_request_is_answered_request_cancelled(link: Link) -> None:
    class Waiting(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await asyncio.Event().wait()
            raise AssertionError

    async with serving(link, Waiting) as peer:
        await peer.send(prompt(9), {"method": "$/cancel_request", "params": {"requestId": 9}})
        assert (await peer.receive())["error"]["code"] == -32800
        assert await peer.until_quiet() == []


async def test_rule_20_a_cancelled_handler_may_still_return_a_result(link: Link) -> None:
    started = asyncio.Event()

    class Tidy(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return PromptResponse(stop_reason="refusal")
            raise AssertionError

    async with serving(link, Tidy) as peer:
        await peer.send(prompt("x"))
        await started.wait()
        await peer.send({"method": "$/cancel_request", "params": {"requestId": "x"}})
        assert (await peer.receive())["result"] == {"stopReason": "refusal"}


@pytest.mark.parametrize(
    "params", [{"requestId": 99}, {"requestId": "9"}, {"requestId": [9]}, {}, None, {"requestId": None}, [9], 2**80]
)
async def test_rule_20_unknown_and_malformed_cancellations_are_ignored(link: Link, params: Any) -> None:
    gate = asyncio.Event()

    class Gated(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await gate.wait()
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Gated) as peer:
        await peer.send(prompt(9), {"method": "$/cancel_request", "params": params})
        assert await peer.until_quiet() == []
        gate.set()
        assert (await peer.receive())["result"] == {"stopReason": "end_turn"}


async def test_rule_20_a_cancelled_request_that_the_schema_does_not_have_is_answered(link: Link) -> None:
    class Slow(PlainAgent):
        async def ext_request(self, method: str, params: Any, /) -> Any:
            await asyncio.Event().wait()

    async with serving(link, Slow) as peer:
        await peer.send({"id": "x", "method": "_slow"})
        await peer.send({"method": "$/cancel_request", "params": {"requestId": "x"}})
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == ("x", -32800)
