"""A whole session over HTTP, by raw requests: what takes which stream."""

from __future__ import annotations

from typing import Any

import pytest

from acp_kit.remote import agent_app
from tests.support.kit.remote_agents import echo, raw_agents
from tests.support.kit.remote_servers import SERVERS, serving

_NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}


def _prompt(id: int, text: str, session: str = "s1") -> dict[str, Any]:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params}


def _load(id: int, session: str) -> dict[str, Any]:
    params = {"sessionId": session, "cwd": "/", "mcpServers": []}
    return {"jsonrpc": "2.0", "id": id, "method": "session/load", "params": params}


@pytest.mark.parametrize("server", SERVERS)
async def test_a_session_lives_on_two_streams(server: str) -> None:
    async with serving(agent_app(echo), server) as site:
        id = await site.initialize()
        connection = await site.stream(id)
        posted = await site.post(id, _NEW)
        assert (posted.status, posted.body) == (202, b"")
        assert (await connection.next())["result"] == {"sessionId": "s1"}
        await site.post(id, _prompt(2, "before its stream is open"))
        session = await site.stream(id, "s1")
        assert (await session.next())["params"]["update"]["content"]["text"] == "before its stream is open"
        assert (await session.next())["id"] == 2
        assert (await site.delete(id)).status == 202
        assert await connection.next() is None
        assert await session.next() is None
        assert (await site.post(id, _prompt(3, ""))).status == 404
        await connection.close()
        await session.close()
