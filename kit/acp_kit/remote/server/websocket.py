"""WebSockets of clients, and a transport over them, for agents."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from secrets import token_urlsafe

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from acp_kit.remote.names import CONNECTION_ID
from acp_kit.remote.server.admission import Admission
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections

_NORMAL, _GOING_AWAY, _TOO_BIG, _FAILED = 1000, 1001, 1009, 1011
_CLOSE_SECONDS = 2.0


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        socket: the accepted WebSocket.
        bounds: how much the client may cost.
    """

    def __init__(self, socket: WebSocket, bounds: Bounds) -> None:
        self._socket = socket
        self._bounds = bounds

    async def receive(self) -> bytes:
        """Return the next message of the client."""
        while (event := await self._socket.receive())["type"] != "websocket.disconnect":
            text: str | None = event.get("text")
            if text:  # binary frames mean nothing
                frame = text.replace("\n", " ").encode()
                if len(frame) > self._bounds.message_bytes:
                    await self.close_with(_TOO_BIG)
                    break
                return frame + b"\n"
        return b""

    async def send(self, data: bytes, /) -> None:
        """Send messages. Raise TimeoutError if the client doesn't read."""
        loop, seconds = asyncio.get_running_loop(), self._bounds.unread_seconds
        async with asyncio.timeout(seconds) as deadline:
            started = loop.time()
            for line in data.splitlines():
                await self._socket.send_text(line.decode())
                if (now := loop.time()) > started + seconds / 10:  # a timer for each message would cost too much
                    started = now
                    deadline.reschedule(now + seconds)

    async def close(self) -> None:
        """Leave closing to the endpoint, which knows why the connection has ended."""

    async def close_with(self, code: int) -> None:
        """Close the WebSocket with a code, unless it is closed."""
        if self._socket.client_state is self._socket.application_state is WebSocketState.CONNECTED:
            await self._socket.close(code)


class WebSocketEndpoint:
    """Accepts WebSockets.

    Args:
        connections: serve the agent.
        admission: decides who may connect.
        bounds: how much clients may cost.
    """

    def __init__(self, connections: Connections, admission: Admission, bounds: Bounds) -> None:
        self._connections = connections
        self._admission = admission
        self._bounds = bounds

    async def accept(self, socket: WebSocket) -> None:
        """Serve the agent over a WebSocket until it is closed."""
        identity = await self._admission.admit(socket)
        self._connections.check_room()
        await socket.accept(headers=[(CONNECTION_ID.lower().encode(), token_urlsafe(24).encode())])
        transport = WebSocketTransport(socket, self._bounds)
        code = _GOING_AWAY
        try:
            code = _NORMAL if await self._connections.start(transport, identity) else _FAILED
        finally:
            with suppress(TimeoutError, WebSocketDisconnect):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await transport.close_with(code)
