"""What clients over HTTP may cost: each bound holds, and other clients don't notice who exceeds it."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest

from acp_kit.remote import Bounds, agent_app
from tests.support.kit.remote_agents import RawAgent, echo, raw_agents
from tests.support.kit.remote_servers import (
    EVENTS,
    INITIALIZE,
    JSON,
    SERVERS,
    Site,
    left_in_memory,
    read_response,
    serving,
)
from tests.support.scale import count

_SOON = 0.05  # seconds
_NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
_TEXT = "x" * 100


async def _works(site: Site) -> None:
    """Check that another client is served."""
    id = await site.initialize()
    connection = await site.stream(id)
    await site.post(id, _NEW)
    assert (await connection.next())["result"] == {"sessionId": "s1"}
    await connection.close()
    assert (await site.delete(id)).status == 202


async def _say_until_it_fails(agent: RawAgent, session: str, text: str = _TEXT) -> int:
    """Send updates until that fails, and return how many were sent."""
    number = 0
    while agent.error is None:
        await agent.update(session, text)
        number += agent.error is None
    return number


async def test_an_unread_session_ends_the_connection_at_its_limit() -> None:
    serve, agents = raw_agents()
    bounds = Bounds(unread_bytes=10_000, unread_seconds=_SOON)
    async with serving(agent_app(serve, bounds=bounds)) as site:
        id = await site.initialize()
        agent, connection = await agents.get(), await site.stream(id)
        assert 50 < await _say_until_it_fails(agent, "s") <= 100
        assert await agent.next() is None
        assert await connection.next() is None
        assert (await site.post(id, _NEW)).status == 404
        await connection.close()


async def test_the_agent_waits_for_a_client_that_reads() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(unread_bytes=1000))) as site:
        id = await site.initialize()
        agent, session = await agents.get(), await site.stream(id, "s")
        saying = asyncio.create_task(
            agent.say(*({"id": number, "method": "_x", "params": {"sessionId": "s"}} for number in range(5000)))
        )
        assert [(await session.next())["id"] for _ in range(5000)] == list(range(5000))
        await saying
        await session.close()


async def test_a_message_larger_than_the_limit_arrives() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(unread_bytes=1000))) as site:
        id = await site.initialize()
        agent, session = await agents.get(), await site.stream(id, "s")
        await agent.update("s", "x" * 1_000_000)
        assert len((await session.next())["params"]["text"]) == 1_000_000
        await session.close()


async def test_a_session_that_is_not_read_does_not_stop_others_before_its_limit() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(unread_bytes=100_000))) as site:
        id = await site.initialize()
        agent, session = await agents.get(), await site.stream(id, "read")
        for number in range(500):
            await agent.update("unread", _TEXT)
            await agent.update("read", str(number))
            assert (await session.next())["params"]["text"] == str(number)
        assert agent.error is None
        await session.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_client_that_opens_a_stream_and_never_reads_loses_its_connection(server: str) -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(unread_bytes=100_000, unread_seconds=0.2)), server) as site:
        id = await site.initialize()
        agent, stuck = await agents.get(), socket.create_connection(("127.0.0.1", site.port))
        stuck.sendall(
            f"GET /acp HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: {id}\r\nAcp-Session-Id: s\r\n\r\n".encode()
        )
        failing = asyncio.create_task(_say_until_it_fails(agent, "s", "x" * 100_000))
        for _ in range(3):
            id = await site.initialize()
            await agents.get()
            await site.delete(id)
        assert await failing * 100_000 < 32 * 1024 * 1024  # the buffers of the system and of the server
        stuck.close()


async def test_a_stream_that_is_not_read_ends_without_an_error_in_the_log() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(unread_seconds=_SOON))) as site:
        id = await site.initialize()
        agent, stuck = await agents.get(), socket.create_connection(("127.0.0.1", site.port))
        await agent.update("s", "x" * 32 * 1024 * 1024)
        stuck.sendall(
            f"GET /acp HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: {id}\r\nAcp-Session-Id: s\r\n\r\n".encode()
        )
        async with asyncio.timeout(10):
            assert await agent.transport.receive() == b""
        stuck.close()


async def test_messages_wait_for_few_sessions_only() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(streams=3, unread_seconds=_SOON))) as site:
        id = await site.initialize()
        agent = await agents.get()
        for number in range(3):
            await agent.update(f"s{number}")
            await agent.update(f"s{number}")
        assert (await site.request("GET", {**EVENTS, "Acp-Connection-Id": id, "Acp-Session-Id": "s3"})).status == 503
        first = await site.stream(id, "s0")
        assert agent.error is None
        await agent.update("s3")
        assert "ConnectionError" in str(agent.error)
        await first.close()


async def test_open_streams_count_as_bytes_that_wait() -> None:
    async with serving(agent_app(echo, bounds=Bounds(connection_bytes=200_000))) as site:
        id = await site.initialize()
        streams = [await site.stream(id, f"s{number}") for number in range(4)]
        await site.request("GET", {**EVENTS, "Acp-Connection-Id": id, "Acp-Session-Id": "s4"})
        assert [await stream.next() for stream in streams] == [None] * 4
        assert (await site.post(id, _NEW)).status == 404
        for stream in streams:
            await stream.close()
        await _works(site)


async def test_sessions_that_were_read_make_room_for_others() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(streams=3))) as site:
        id = await site.initialize()
        agent = await agents.get()
        for number in range(3):
            await agent.update(f"s{number}")
        waiting = asyncio.create_task(agent.update("s3"))
        first = await site.stream(id, "s0")
        await first.next()
        await first.close()
        await waiting
        assert agent.error is None


@pytest.mark.stress
async def test_many_ids_of_sessions_leave_nothing() -> None:
    total = count(50, 10_000)
    async with serving(agent_app(echo)) as site:
        id = await site.initialize()
        connection = await site.stream(id)
        for number in range(total):
            params = {"sessionId": f"s{number}", "cwd": "/", "mcpServers": []}
            await site.post(id, {"jsonrpc": "2.0", "id": number, "method": "session/load", "params": params})
            while (await connection.next()).get("id") != number:
                pass
        assert len(left_in_memory()) == 2  # the transport, and the stream of the connection
        await connection.close()


async def test_a_flood_of_messages_waits_for_the_agent_or_is_refused() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(posts=3))) as site:
        id = await site.initialize()
        agent = await agents.get()
        posts = [asyncio.create_task(site.post(id, {"id": number, "method": "_x"})) for number in range(20)]
        while sum(post.done() for post in posts) < 17:  # one is taken, and three wait
            await asyncio.wait([post for post in posts if not post.done()], return_when=asyncio.FIRST_COMPLETED)
        assert sorted(post.result().status for post in posts if post.done()) == [202, *[503] * 16]
        taken = [(await agent.next())["id"] for _ in range(4)]
        assert [(await posts[number]).status for number in taken] == [202] * 4


async def test_a_message_that_the_agent_has_not_received_counts() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(connection_bytes=200_000))) as site:
        id = await site.initialize()
        await agents.get()
        assert (await site.post(id, {"id": 1, "method": "_x", "params": "x" * 150_000})).status == 202
        assert (await site.post(id, {"id": 2, "method": "_x", "params": "x" * 150_000})).status == 413
        assert (await site.post(id, _NEW)).status == 404


async def test_a_session_that_is_loaded_again_and_again_counts_once() -> None:
    serve, agents = raw_agents()
    load = {"id": 1, "method": "session/load", "params": {"sessionId": "s"}}
    async with serving(agent_app(serve, bounds=Bounds(connection_bytes=10_000))) as site:
        id = await site.initialize()
        agent = await agents.get()
        for _ in range(20):
            assert (await site.post(id, load)).status == 202
            await agent.next()


async def test_messages_arrive_in_the_order_in_which_they_were_sent() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        agent = await agents.get()
        head = f"POST /acp HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: {id}\r\nContent-Type: application/json\r\n"
        bodies = [json.dumps({"id": number, "method": "_x"}).encode() for number in range(100)]
        reader, writer = await site.connect()
        for body in bodies:  # without waiting for the responses
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert [(await agent.next())["id"] for _ in range(100)] == list(range(100))
        assert [(await read_response(reader)).status for _ in range(100)] == [202] * 100
        writer.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_body_that_comes_too_slowly_is_refused(server: str) -> None:
    async with serving(agent_app(echo, bounds=Bounds(first_seconds=1, body_seconds=_SOON)), server) as site:
        id = await site.initialize()
        for headers in ({}, {"Acp-Connection-Id": id}):
            reader, writer = await site.begin("POST", {**JSON, **headers, "Content-Length": "100"}, b"{")
            assert (await read_response(reader)).status == 408
            writer.close()
        await _works(site)


async def test_connections_are_limited() -> None:
    async with serving(agent_app(echo, bounds=Bounds(connections=2))) as site:
        ids = [await site.initialize() for _ in range(2)]
        refused = await site.request("POST", JSON, INITIALIZE)
        assert (refused.status, refused.headers["retry-after"]) == (503, "10")
        await site.delete(ids[0])
        while (again := await site.request("POST", JSON, INITIALIZE)).status == 503:
            pass  # the agent is ending
        assert again.status == 200


async def test_a_connection_without_a_stream_ends() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve, bounds=Bounds(idle_seconds=0.5))) as site:  # enough to open a stream
        kept_open = await site.initialize()
        connection = await site.stream(kept_open)
        alive = await agents.get()
        await site.initialize()
        assert await (await agents.get()).next() is None
        left = await site.stream(await site.initialize(), **{"Content-Length": "9"})
        left.writer.write(b"x")
        await left.close()
        assert await (await agents.get()).next() is None
        assert (await site.post(kept_open, _NEW)).status == 202
        await alive.next()
        await connection.close()
        assert await alive.next() is None


@pytest.mark.parametrize("server", SERVERS)
async def test_an_initialize_that_is_never_answered_is_refused(server: str) -> None:
    async def serve(transport: Any, _: None) -> None:
        while await transport.receive():
            pass

    async with serving(agent_app(serve, bounds=Bounds(idle_seconds=_SOON)), server) as site:
        response = await site.request("POST", JSON, INITIALIZE)
        assert (response.status, response.json["error"]["code"]) == (504, -32603)


async def test_streams_are_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.server.streams._KEEP_ALIVE", 0.01)
    async with serving(agent_app(echo)) as site:
        connection = await site.stream(await site.initialize())
        assert [await connection.line() for _ in range(3)] == [b":"] * 3
        await connection.close()


async def test_a_body_that_is_too_large_is_answered_while_it_is_sent() -> None:
    async with serving(agent_app(echo, bounds=Bounds(connection_bytes=200_000))) as site:
        id = await site.initialize()
        reader, writer = await site.begin(
            "POST", {**JSON, "Acp-Connection-Id": id, "Content-Length": "10000000"}, b" " * 300_000
        )
        assert (await read_response(reader)).status == 413
        writer.write(b" " * 9_700_000)
        await writer.drain()
        writer.write(b"GET /acp HTTP/1.1\r\nHost: localhost\r\n\r\n")  # the TCP connection can still be used
        assert (await read_response(reader)).status == 400
        writer.close()
