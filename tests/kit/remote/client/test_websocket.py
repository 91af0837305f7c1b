"""A WebSocket client: what frames carry, and why a connection ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request

from acp_bindings import v1
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed
from tests.support.runtime.peer import PlainClient

Handler = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def websocket_agent(handler: Handler) -> AsyncGenerator[str]:
    """Serve a handler, and yield the URL."""
    async with serve(handler, "127.0.0.1", 0, max_size=None) as server:
        yield "ws://127.0.0.1:{1}/acp".format(*server.sockets[0].getsockname())


async def test_binary_frames_are_ignored_and_newlines_are_white_space() -> None:
    async def say(server: ServerConnection) -> None:
        await server.send(b"\x00\xff")
        await server.send('{\n"text":\r\n"hello"\n}')
        await server.send(["in ", "fragments"])
        await server.wait_closed()

    async with websocket_agent(say) as url:
        transport = await open_transport(url)
        assert await transport.receive() == b'{ "text":\r "hello" }\n'
        assert await transport.receive() == b"in fragments\n"
        await transport.close()


async def test_headers_are_sent_and_nothing_is_compressed() -> None:
    seen: list[Request | None] = []

    async def note(server: ServerConnection) -> None:
        seen.append(server.request)

    async with websocket_agent(note) as url:
        transport = await open_transport(url, headers={"Authorization": "Bearer secret"})
        assert await transport.receive() == b""
        await transport.close()
    assert seen[0] is not None
    assert seen[0].headers["Authorization"] == "Bearer secret"
    assert "Sec-WebSocket-Extensions" not in seen[0].headers


@pytest.mark.parametrize("code", [1001, 1008, 1011, 4000])
async def test_why_the_agent_has_closed_reaches_the_caller(code: int) -> None:
    async def refuse(server: ServerConnection) -> None:
        await server.recv()
        await server.close(code, "not\ttoday")

    async with websocket_agent(refuse) as url:
        with pytest.raises(ConnectionClosed, match=f"code {code}: not today"):
            async with v1.connect(PlainClient, await open_transport(url)) as agent:
                await agent.initialize(protocol_version=1)


async def test_the_regular_end_is_no_error() -> None:
    async def leave(server: ServerConnection) -> None:
        await server.send("last words")

    async with websocket_agent(leave) as url:
        transport = await open_transport(url)
        assert await transport.receive() == b"last words\n"
        assert await transport.receive() == b""
        with pytest.raises(OSError, match="code 1000"):
            await transport.send(b"{}\n")
        await transport.close()


async def test_a_connection_that_breaks_is_an_error() -> None:
    async def break_off(server: ServerConnection) -> None:
        server.transport.abort()

    async with websocket_agent(break_off) as url:
        transport = await open_transport(url)
        with pytest.raises(OSError, match="The WebSocket has closed"):
            await transport.receive()
        await transport.close()


async def test_a_server_that_speaks_no_http_is_an_error() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = "ws://127.0.0.1:{1}/acp".format(*server.sockets[0].getsockname())
        with pytest.raises(ConnectionClosed, match="/acp failed: did not receive a valid HTTP response"):
            await open_transport(url)


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.get_running_loop().create_future()

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set_result(await reader.readline())
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(proxy, "127.0.0.1", 0) as server:
        address = "127.0.0.1:{1}".format(*server.sockets[0].getsockname())
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("https_proxy", f"http://{address}")
        monkeypatch.setenv("http_proxy", f"http://{address}")
        with pytest.raises(ConnectionClosed, match="/acp failed: did not receive a valid HTTP response"):
            await open_transport("ws://agents.invalid/acp")
        assert (await asked).startswith(b"CONNECT agents.invalid:80")
