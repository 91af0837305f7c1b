"""A whole session over HTTP, by raw requests: what takes which stream."""

from __future__ import annotations

from typing import Any

import pytest

from acp_kit.remote import agent_app
from tests.support.kit.remote_agents import echo, raw_agents
from tests.support.kit.remote_servers import SERVERS, serving

_NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}


def _prompt(id: int, text: str) -> dict[str, Any]:
    params = {"sessionId": "s1", "prompt": [{"type": "text", "text": text}]}
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


async def test_replay_and_answer_of_a_load_take_the_open_session_stream() -> None:
    async with serving(agent_app(echo)) as site:
        id = await site.initialize()
        connection, session = await site.stream(id), await site.stream(id, "old")
        await site.post(id, _load(1, "old"))
        replayed = [(await session.next())["params"]["update"]["content"]["text"] for _ in range(10)]
        assert replayed == [str(number) for number in range(10)]
        assert (await session.next())["id"] == 1
        await session.close()
        await connection.close()


async def test_a_stream_that_opens_during_a_load_does_not_split_it() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        agent, connection = await agents.get(), await site.stream(id)
        await site.post(id, _load(1, "old"))
        assert (await agent.next())["method"] == "session/load"
        await agent.update("old", "first")
        assert (await connection.next())["params"]["text"] == "first"
        session = await site.stream(id, "old")
        await agent.update("old", "second")
        await agent.say({"id": 1, "result": {}})
        assert (await connection.next())["params"]["text"] == "second"
        assert (await connection.next())["id"] == 1
        await agent.update("old", "third")
        assert (await session.next())["params"]["text"] == "third"
        await session.close()
        await connection.close()


_IN = [
    ("session/prompt", False, "session"),
    ("session/prompt", True, "session"),
    ("session/set_mode", False, "connection"),
    ("session/set_mode", True, "session"),
    ("session/resume", False, "connection"),
    ("session/resume", True, "session"),
    ("session/fork", False, "connection"),
    ("session/list", False, "connection"),
]


@pytest.mark.parametrize(("method", "is_open", "takes"), _IN)
async def test_an_answer_takes_the_stream_that_clients_expect(method: str, is_open: bool, takes: str) -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        agent, connection = await agents.get(), await site.stream(id)
        session = await site.stream(id, "s") if is_open else None
        params = {} if method == "session/list" else {"sessionId": "s"}
        await site.post(id, {"jsonrpc": "2.0", "id": "a", "method": method, "params": params})
        await agent.next()
        await agent.say({"id": "a", "result": {}})
        session = session or await site.stream(id, "s")
        await agent.say({"method": "_end"})
        await agent.update("s")
        first = {"connection": await connection.next(), "session": await session.next()}
        assert first[takes].get("id") == "a"
        await session.close()
        await connection.close()


async def test_a_session_is_known_by_the_request_that_is_answered() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        agent = await agents.get()
        session = await site.stream(id, "s")
        ask = {"method": "session/request_permission", "params": {"sessionId": "s"}}
        await agent.say({"id": 7, **ask}, {"id": "7", **ask})
        assert [(await session.next())["id"] for _ in range(2)] == [7, "7"]
        answer = {"jsonrpc": "2.0", "id": 7, "result": {}}
        wrong = await site.post(id, answer, **{"Acp-Session-Id": "another"})
        assert wrong.status == 400
        assert (await site.post(id, answer)).status == 202
        assert (await agent.next())["id"] == 7
        assert (await site.post(id, {**answer, "id": "7"}, **{"Acp-Session-Id": "s"})).status == 202
        assert (await agent.next())["id"] == "7"
        await session.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_stream_can_be_read_again_when_its_reader_has_left(server: str) -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve), server) as site:
        id = await site.initialize()
        agent = await agents.get()
        await (await site.stream(id, "s")).close()
        again = await site.reopen(id, "s")
        await agent.update("s", "1")
        assert (await again.next())["params"]["text"] == "1"
        await again.close()
