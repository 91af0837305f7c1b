"""A transport over WebSocket, for clients."""

from __future__ import annotations

from collections.abc import Mapping
from ssl import SSLContext

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK, InvalidHandshake

_KEEP_ALIVE = 15.0  # seconds between pings


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        socket: the open WebSocket.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        try:
            while not isinstance(frame := await self._socket.recv(), str):
                pass  # binary frames mean nothing
        except ConnectionClosedOK:
            return b""
        except ConnectionClosed as closed:
            raise OSError(str(closed)) from closed
        return frame.replace("\n", " ").encode() + b"\n"

    async def send(self, data: bytes, /) -> None:
        for line in data.splitlines():
            await self._socket.send(line, text=True)

    async def close(self) -> None:
        await self._socket.close()


async def open_websocket(
    url: str, headers: Mapping[str, str], ssl: SSLContext | None, max_message_bytes: int
) -> WebSocketTransport:
    """Open a WebSocket to an agent."""
    secure = {"ssl": ssl} if ssl else {}
    try:
        socket = await connect(
            url, additional_headers=headers, max_size=max_message_bytes, ping_interval=_KEEP_ALIVE, **secure
        )
    except InvalidHandshake as refused:
        raise OSError(f"The agent at {url} refused the connection: {refused}") from refused
    return WebSocketTransport(socket)
