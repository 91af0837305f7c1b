"""Rule 5: a message that is larger than a peer accepts is refused where it is sent, and the connection goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse
from acp_runtime import OversizedMessage, RequestError
from tests.support.runtime.peer import Link, PlainAgent, calling, chunk, prompt, serving, update

LIMIT = 1000
LARGE = "x" * LIMIT


class Talking(PlainAgent):
    """An agent that sends a large update, and then a small one."""

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        return NewSessionResponse(session_id=LARGE)

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        with pytest.raises(OversizedMessage, match=r"session/update has 1\d\d\d bytes, more than 1000"):
            await self.client.session_update(session_id=request.session_id, update=chunk(LARGE))
        await self.client.session_update(session_id=request.session_id, update=chunk("x"))
        return PromptResponse(stop_reason="end_turn")


async def test_rule_5_a_notification_that_is_too_large_is_not_sent(link: Link) -> None:
    async with serving(link, Talking, max_message_bytes=LIMIT) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["params"] == update("s1", "x")["params"]
        assert (await peer.receive())["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(("guards", "is_logged"), [("warn", True), ("off", False)])
async def test_rule_5_a_message_over_the_limit_is_sent_if_guards_do_not_raise(
    link: Link, caplog: pytest.LogCaptureFixture, guards: str, is_logged: bool
) -> None:
    async with calling(link, max_message_bytes=LIMIT, guards=guards) as (agent, peer):
        await agent.ext_notification("_echo", LARGE)
        assert (await peer.receive())["params"] == LARGE
    assert ["_echo has 1" in record.getMessage() for record in caplog.records] == [True] * is_logged


async def test_rule_5_a_request_that_is_too_large_is_not_sent(link: Link) -> None:
    async with calling(link, max_message_bytes=LIMIT) as (agent, peer):
        for call in (
            agent.session_prompt(session_id="s", prompt=[ContentBlockText(text=LARGE)]),
            agent.ext_request("_echo", LARGE),
        ):
            with pytest.raises(OversizedMessage):
                await call
        await agent.ext_notification("_echo", "x")
        assert (await peer.receive())["params"] == "x"


async def test_rule_5_a_request_that_is_just_small_enough_is_sent(link: Link) -> None:
    async with calling(link, max_message_bytes=LIMIT) as (agent, peer):
        rest = len('{"jsonrpc":"2.0","id":1,"method":"_echo","params":""}')
        call = asyncio.ensure_future(agent.ext_request("_echo", "x" * (LIMIT - rest)))
        line = await peer.receive_line()
        assert len(line) == LIMIT
        await peer.send({"id": 1, "result": None})
        await call
        with pytest.raises(OversizedMessage):
            await agent.ext_request("_echo", "x" * (LIMIT - rest + 1))


async def test_rule_5_a_result_that_is_too_large_is_answered_with_an_error(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(link, Talking, max_message_bytes=LIMIT) as peer:
        await peer.send({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
        assert (await peer.receive())["error"]["code"] == -32603
    assert "session/new has 1" in caplog.text


@pytest.mark.parametrize("error", [RequestError(-32000, LARGE), RequestError(-32000, "x", LARGE)])
async def test_rule_5_an_error_that_is_too_large_is_answered_with_a_plain_one(
    link: Link, caplog: pytest.LogCaptureFixture, error: RequestError
) -> None:
    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise error

    async with serving(link, Failing, max_message_bytes=LIMIT) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["error"] == {"code": -32603, "message": "Internal error"}
    (record,) = caplog.records
    assert "The handler of session/prompt raised an error that can't be sent" in record.getMessage()


async def test_rule_5_a_message_as_large_as_a_peer_accepts_is_sent(link: Link) -> None:
    async with calling(link, max_message_bytes=LIMIT) as (agent, peer):
        await agent.ext_notification("_echo", "")
        rest = len(await peer.receive_line())
        await agent.ext_notification("_echo", "x" * (LIMIT - rest))
        assert len(await peer.receive_line()) == LIMIT
        with pytest.raises(OversizedMessage, match=f"has {LIMIT + 1} bytes"):
            await agent.ext_notification("_echo", "x" * (LIMIT - rest + 1))


async def test_rule_5_a_result_that_is_just_small_enough_is_sent(link: Link) -> None:
    class Echo(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return "x" * (LIMIT - len('{"jsonrpc":"2.0","id":1,"result":""}') + params)

    async with serving(link, Echo, max_message_bytes=LIMIT) as peer:
        await peer.send({"id": 1, "method": "_echo", "params": 0})
        assert len(await peer.receive_line()) == LIMIT
        await peer.send({"id": 1, "method": "_echo", "params": 1})
        assert (await peer.receive())["error"]["code"] == -32603


async def test_rule_5_an_error_that_is_just_small_enough_is_sent(link: Link) -> None:
    class Failing(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            rest = len('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":""}}')
            raise RequestError(-32000, "x" * (LIMIT - rest + params))

    async with serving(link, Failing, max_message_bytes=LIMIT) as peer:
        await peer.send({"id": 1, "method": "_fail", "params": 0})
        assert len(await peer.receive_line()) == LIMIT
        await peer.send({"id": 1, "method": "_fail", "params": 1})
        assert (await peer.receive())["error"]["code"] == -32603
