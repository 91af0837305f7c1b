"""Lone surrogates, which JSON can carry and UTF-8 can't, over HTTP and WebSocket."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.asyncio.client import connect

from acp_kit.remote import agent_app
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import INITIALIZE, serving

_NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}


def _prompt(text: str) -> Any:
    params = {"sessionId": "s1", "prompt": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params}


@pytest.mark.parametrize("text", ["cut \ud83d", "\ude00" * 5000], ids=["one", "many"])
async def test_they_arrive_over_http_and_return(text: str) -> None:
    async with serving(agent_app(echo)) as site:
        id = await site.initialize()
        session = await site.stream(id, "s1")
        assert (await site.post(id, _NEW)).status == 202
        assert (await site.post(id, _prompt(text))).status == 202
        while (message := await session.next()).get("method") != "session/update":
            pass
        assert message["params"]["update"]["content"]["text"] == text
        await session.close()


@pytest.mark.parametrize("text", ["cut \ud83d", "\ude00" * 5000], ids=["one", "many"])
async def test_they_arrive_over_websocket_and_return(text: str) -> None:
    async with serving(agent_app(echo)) as site, connect(f"ws://127.0.0.1:{site.port}/acp") as client:
        for message in (INITIALIZE, _NEW, _prompt(text)):
            await client.send(json.dumps(message))
            answer = json.loads(await client.recv())
        assert answer["params"]["update"]["content"]["text"] == text


async def test_more_than_a_message_may_have_are_refused_and_others_are_served() -> None:
    flood = json.dumps(_prompt("\ud800" * 100_000))
    async with serving(agent_app(echo)) as site, connect(f"ws://127.0.0.1:{site.port}/acp") as client:
        id = await site.initialize()
        assert (await site.post(id, json.loads(flood))).status == 400
        for message in (json.dumps(INITIALIZE), flood):
            await client.send(message)
            answer = json.loads(await client.recv())
        assert answer["error"]["code"] == -32700
        assert (await site.post(id, _NEW)).status == 202
