"""Messages as real agents and clients send them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse
from acp_runtime import ConnectionClosed
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, prompt, serving


async def test_models_in_session_results_and_unknown_fields_anywhere_are_kept(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        models = {"availableModels": [{"modelId": "m", "name": "M"}], "currentModelId": "m"}
        result = {"sessionId": "s", "models": models, "future": [1, {"x": None}]}
        await peer.answer(result=result, extra=1)
        assert json.loads((await call).model_dump_json()) == result


async def test_a_tool_call_update_without_a_tool_call_is_delivered(link: Link) -> None:
    seen: list[Any] = []
    done = asyncio.Event()

    class Recording(PlainClient):
        async def session_update(self, notification: Any, /) -> None:
            seen.append(notification.update)
            done.set()

    async with calling(link, Recording) as (_, peer):
        content = [{"type": "terminal", "terminalId": "unknown"}]
        changed = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": content}
        await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": changed}})
        await done.wait()
        assert json.loads(seen[0].model_dump_json()) == changed


async def test_unknown_methods_without_an_underscore_are_answered_and_the_connection_goes_on(link: Link) -> None:
    async with calling(link) as (_, peer):
        await peer.send({"id": 1, "method": "craft/drainMidTurnQueue", "params": {"sessionId": "s"}})
        assert (await peer.receive())["error"]["code"] == -32601
        assert await peer.until_quiet() == []


async def test_plain_text_before_the_first_message_is_reported_once_and_the_connection_goes_on(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        await peer.send(b"Loading...\nStill loading...\n\x1b[31mReady\x1b[0m\n")
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        first, second = await peer.receive(), await peer.receive()
        answers = sorted([first, second], key=lambda message: "method" in message)
        assert answers[0]["error"]["code"] == -32700
        await peer.send({"id": answers[1]["id"], "result": {"protocolVersion": 1}})
        assert (await call).protocol_version == 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_a_peer_that_echoes_is_named_as_one(link: Link, end: bytes) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.send(await peer.receive_line() + end)
        with pytest.raises(
            ConnectionClosed, match=r"own messages back, such as initialize\. Is the command an agent\?"
        ):
            await call
        assert await peer.rest() == []


async def test_nothing_more_is_sent_to_a_peer_that_echoes(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.ensure_future(agent.session_prompt(session_id="s1", prompt=[]))
        await peer.send(await peer.receive_line() + b"\n")
        with pytest.raises(ConnectionClosed, match="own messages back"):
            await call
        assert await peer.rest() == []


async def test_invalid_messages_of_an_agent_are_no_banner_and_are_all_answered(link: Link) -> None:
    async with calling(link, ready=False) as (_, peer):
        for message in (b"5\n", b"6\n", {"id": 7, "method": 1}, {"id": 8, "method": 2}):
            await peer.send(message)
            answer = await peer.receive()
            assert answer["error"]["code"] == -32600


@pytest.mark.parametrize("change", [{"id": "0"}, {"id": 1}, {"method": "initialized"}, {"params": {}}, {"extra": 1}])
async def test_a_request_unlike_a_pending_call_is_no_echo(link: Link, change: Any) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        request = await peer.receive()
        await peer.send({**request, **change})
        assert (await peer.receive())["error"]["code"] == -32601
        await peer.send({"id": request["id"], "result": {"protocolVersion": 1}})
        await call


async def test_both_sides_number_their_ids_from_0(link: Link) -> None:
    class Asking(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            return PromptResponse(stop_reason=await self.client.ext_request("_why"))

    async with serving(link, Asking) as peer:
        await peer.send(*(prompt(id, f"s{id}") for id in range(3)))
        ids = [(await peer.receive())["id"] for _ in range(3)]
        assert ids == [0, 1, 2]
        for id, reason in ((2, "refusal"), (0, "end_turn"), (1, "max_tokens")):
            await peer.send({"id": id, "result": reason})
            assert await peer.receive() == {"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}}
