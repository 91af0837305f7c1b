"""A raw WebSocket server: the test decides every byte that it sends, and when it reads."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tests.support.kit.http_heads import read_head

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
END = 0x80  # the last fragment of a message
COMPRESSED = 0x40
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class RawWebSocket:
    """The server's end of a connection. The test answers the handshake.

    Attributes:
        key: what the client sent for the handshake.
        headers: what the client sent, in lower case.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: dict[str, str]

    async def accept(self, headers: str = "") -> None:
        """Answer the handshake. Each further header ends with CRLF."""
        digest = hashlib.sha1((self.headers["sec-websocket-key"] + _GUID).encode(), usedforsecurity=False).digest()
        key = base64.b64encode(digest).decode()
        head = f"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n"
        await self.write(f"{head}{headers}\r\n".encode("latin-1"))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def read_frame(self) -> tuple[int, bytes]:
        """Return the opcode and the content of a frame, which is short."""
        opcode, size = await self.reader.readexactly(2)
        mask = await self.reader.readexactly(4)
        content = await self.reader.readexactly(size & 0x7F)
        return opcode & 0xF, bytes(byte ^ mask[number % 4] for number, byte in enumerate(content))


def frame(first: int, content: bytes = b"") -> bytes:
    """Return a frame. The first byte is an opcode with `END` or `COMPRESSED`."""
    size = len(content)
    if size < 126:
        return bytes([first, size]) + content
    return bytes([first, 127]) + size.to_bytes(8, "big") + content


@asynccontextmanager
async def raw_websocket(serve: Callable[[RawWebSocket], Awaitable[None]]) -> AsyncGenerator[str]:
    """Serve each connection with a function. Yield the URL."""
    tasks: list[asyncio.Task[None]] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            _, headers = await read_head(reader)
            await serve(RawWebSocket(reader, writer, headers))
        writer.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield "ws://127.0.0.1:{1}/acp".format(*server.sockets[0].getsockname())
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
