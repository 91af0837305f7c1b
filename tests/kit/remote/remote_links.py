"""Joins the two ends of a connection over WebSocket or HTTP, for the tests that run over every kind of transport."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from acp_kit.remote import Bounds, agent_app, open_transport
from acp_runtime.transports import Transport
from acp_runtime.transports.transport import TransportEnd
from tests.support.kit.remote_servers import run_hypercorn
from tests.support.runtime.peer import Ends, Link, Role
from tests.support.runtime.queue_transport import PeerEnd

_SECONDS = 2.0  # for closing a transport

_BUFFER = 64 * 1024


class ServerEnd:
    """The server's end. It exists when the client has connected, which over HTTP is with its first message."""

    def __init__(self) -> None:
        self._transport = asyncio.get_running_loop().create_future()
        self._is_closed = asyncio.Event()

    async def serve(self, transport: Transport, _: None) -> None:
        """Take the transport of the client, and keep it until this end is closed."""
        self._transport.set_result(transport)
        await self._is_closed.wait()
        await transport.close()

    async def receive(self) -> bytes:
        transport: Transport = await asyncio.shield(self._transport)
        return await transport.receive()

    async def send(self, data: bytes, /) -> None:
        transport: Transport = await asyncio.shield(self._transport)
        await transport.send(data)

    async def close(self) -> None:
        self._is_closed.set()


class ClientEnd:
    """The client's end. It may be closed by a test, and again after it."""

    def __init__(self, transport: Transport) -> None:
        self.receive = transport.receive
        self.send = transport.send
        self._close = transport.close
        self._is_closed = False

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._close()


def _over(scheme: str) -> Link:
    @asynccontextmanager
    async def link(role: Role, flush_deadline: float) -> AsyncIterator[Ends]:
        listener = socket.create_server(("127.0.0.1", 0))
        # Connections inherit them. Those of the system hold more than the tests of backpressure send.
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            listener.setsockopt(socket.SOL_SOCKET, buffer, _BUFFER)
        port = listener.getsockname()[1]
        server_end = ServerEnd()
        app = agent_app(server_end.serve, bounds=Bounds(unread_bytes=_BUFFER))
        async with run_hypercorn(app, listener, websocket_max_message_size=Bounds.message_bytes):
            client_end = ClientEnd(await open_transport(f"{scheme}://127.0.0.1:{port}/acp"))
            ours, theirs = (server_end, client_end) if role == "agent" else (client_end, server_end)
            end, peer = TransportEnd(ours, flush_deadline), PeerEnd(theirs, _SECONDS)
            try:
                yield end, end, peer, peer
            finally:
                await client_end.close()
                await server_end.close()

    return link


REMOTE_LINKS: dict[str, Link] = {"websocket": _over("ws"), "http": _over("http")}
