"""How connections end: by the client, by the agent, by the server. Nothing is left, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from acp_bindings import v1
from acp_kit.remote import agent_app
from acp_runtime.transports import Transport
from tests.support.kit.remote_agents import echo, raw_agents
from tests.support.kit.remote_servers import INITIALIZE, JSON, SERVERS, serving

_STOPS = pytest.mark.skipif(sys.version_info >= (3, 12), reason="hypercorn doesn't stop while a WebSocket is open")
_LIST = {"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}}


async def _crash(transport: Transport, _: None) -> None:
    def factory(_: v1.RemoteClient) -> v1.Agent:
        raise RuntimeError("the factory's secret")

    await v1.serve(factory, transport)


async def _leave(transport: Transport, _: None) -> None:
    await transport.close()


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(("serve", "status", "errors"), [(_crash, 200, 1), (_leave, 500, 0)])
async def test_a_client_learns_that_the_agent_has_failed(serve: Any, status: int, errors: int, server: str) -> None:
    ended = asyncio.Event()

    async def serve_and_note(transport: Transport, _: None) -> None:
        try:
            await serve(transport, None)
        finally:
            ended.set()

    async with serving(agent_app(serve_and_note), server, errors=errors) as site:
        response = await site.request("POST", JSON, INITIALIZE)
        assert (response.status, response.json["error"]["code"]) == (status, -32603)
        assert b"secret" not in response.body
        await ended.wait()


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(("serve", "code", "errors"), [(_crash, 1011, 1), (_leave, 1000, 0)])
async def test_a_websocket_is_closed_when_the_agent_ends(serve: Any, code: int, errors: int, server: str) -> None:
    async with serving(agent_app(serve), server, errors=errors) as site:
        async with connect(f"ws://127.0.0.1:{site.port}/acp") as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd
        assert closed.value.rcvd.code == code


async def test_an_agent_that_ends_ends_its_streams() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        agent, connection = await agents.get(), await site.stream(id)
        await agent.say({"method": "_last", "params": {}})
        agent.ended.set()
        assert (await connection.next())["method"] == "_last"
        assert await connection.next() is None
        assert (await site.delete(id)).status == 404
        await connection.close()


@pytest.mark.parametrize("server", ["uvicorn", pytest.param("hypercorn", marks=[pytest.mark.test_all, _STOPS])])
async def test_the_shutdown_of_the_server_ends_agents(server: str) -> None:
    ended: list[str] = []

    async def serve(transport: Transport, _: None) -> None:
        try:
            await echo(transport, None)
        finally:
            ended.append("agent")

    errors = 0 if server == "uvicorn" else None  # hypercorn logs what it cancels
    async with serving(agent_app(serve), server, errors=errors) as site:
        id = await site.initialize()
        connection = await site.stream(id)
        socket = await connect(f"ws://127.0.0.1:{site.port}/acp")
        await socket.send('{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}')
        await socket.recv()
    assert ended == ["agent", "agent"]
    assert await connection.next() is None
    with pytest.raises(ConnectionClosed):
        await socket.recv()
    await connection.close()
    await socket.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_shutdown_does_not_wait_for_an_initialize(server: str) -> None:
    started = asyncio.Event()

    async def serve(_: Transport, __: None) -> None:
        started.set()
        await asyncio.Event().wait()

    errors = 0 if server == "uvicorn" else None  # hypercorn logs what it cancels
    async with serving(agent_app(serve), server, errors=errors) as site:
        _, writer = await site.begin(
            "POST", {**JSON, "Content-Length": "99"}, b'{"id":0,"method":"initialize"}'.ljust(99)
        )
        await started.wait()
    writer.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_client_may_vanish_in_the_middle_of_a_stream(server: str) -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve), server) as site:
        id = await site.initialize()
        agent, session = await agents.get(), await site.stream(id, "s")
        talking = asyncio.create_task(agent.say(*[{"method": "_x", "params": {"sessionId": "s"}}] * 1000))
        await session.next()
        session.writer.transport.abort()
        await talking
        await (await site.reopen(id, "s")).close()
        assert (await site.post(id, _LIST)).status == 202


@pytest.mark.parametrize("how", ["client", "server"])
async def test_a_post_that_waits_when_the_connection_ends_gets_404(how: str) -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve)) as site:
        id = await site.initialize()
        await agents.get()
        assert (await site.post(id, _LIST)).status == 202
        waiting = asyncio.create_task(site.post(id, _LIST))
        while (
            refused := await site.request("POST", {**JSON, "Acp-Connection-Id": id, "Content-Type": "x"})
        ).status != 415:
            pass
        assert refused.status == 415
        if how == "client":
            assert (await site.delete(id)).status == 202
            assert (await waiting).status == 404
    assert (await waiting).status == 404
