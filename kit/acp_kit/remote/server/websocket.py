"""A transport over WebSocket, for agents."""

from __future__ import annotations

import asyncio

from starlette.websockets import WebSocket

from acp_kit.remote.server.bounds import Bounds

_TOO_BIG = 1009


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
        while (event := await self._socket.receive())["type"] != "websocket.disconnect":
            if text := event.get("text"):  # binary frames mean nothing
                frame = text.replace("\n", " ").encode()
                if len(frame) > self._bounds.message_bytes:
                    await self._socket.close(_TOO_BIG)
                    break
                return frame + b"\n"
        return b""

    async def send(self, data: bytes, /) -> None:
        async with asyncio.timeout(self._bounds.unread_seconds):
            for line in data.splitlines():
                await self._socket.send_text(line.decode())

    async def close(self) -> None:
        await self._socket.close()
