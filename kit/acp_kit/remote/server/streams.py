"""A stream of server-sent events to a client, and its unread messages."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from acp_kit.remote.server.account import Account
from acp_kit.remote.server.requests import Send

_CHUNK_BYTES = 64 * 1024  # bytes of one write
_KEEP_ALIVE = 15.0  # seconds
_MESSAGE_OVERHEAD = 100  # bytes of memory for each message besides its own
_STREAM_OVERHEAD = 48 * 1024  # bytes of memory for an open stream, with the bytes that its client may send
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # otherwise nginx delays events
]


class Stream:
    """The messages of a session or of the connection itself, in order. At most one response sends them.

    Args:
        on_read: called whenever a client has read something.
        account: counts unread messages.

    Attributes:
        is_open: whether a response sends the stream.
        unread: the bytes of unread messages, including the last write, which the server may still buffer.
        abort_response: ends the response, even if the client doesn't read.
    """

    def __init__(self, on_read: Callable[[], None], account: Account) -> None:
        self._on_read = on_read
        self._account = account
        self._lines: deque[bytes] = deque()
        self._last_write = 0
        self._changed = asyncio.Event()
        self._has_ended = False
        self.is_open = False
        self.unread = 0
        self.abort_response: Callable[[], object] = lambda: None

    @property
    def has_unsent(self) -> bool:
        """Whether there are messages that were not passed to the server."""
        return bool(self._lines)

    def put(self, line: bytes) -> None:
        """Add a message."""
        self._lines.append(line)
        self._count(len(line))
        self._changed.set()

    def end(self) -> None:
        """End the stream after its unread messages. If no response sends them, drop them."""
        self._has_ended = True
        self._changed.set()
        if not self.is_open:
            self.abort()

    def begin_response(self, abort: Callable[[], object]) -> None:
        """Note that a response sends the stream, and how to abort it."""
        self.is_open = True
        self.abort_response = abort
        self._count(0)

    def end_response(self) -> None:
        """Note that the response has ended."""
        self.is_open = False
        self.abort_response = lambda: None
        self._set_last_write(0)

    def abort(self) -> None:
        """Drop unread messages, and end the response."""
        self._lines.clear()
        self._last_write = 0
        self._count(-self.unread)
        self.abort_response()

    async def write(self, send: Send, headers: list[tuple[bytes, bytes]], seconds: float) -> None:
        """Send messages to a client, and comments as keep-alives, until the stream ends.

        An incompletely sent message is sent again in the next response.

        Args:
            send: sends a part of a response.
            headers: further headers of the response.
            seconds: how long the client may read nothing.

        Raises:
            TimeoutError: if the client doesn't read.
        """
        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *headers]})
        await _write(send, b":\n\n", seconds)  # so that the client learns that the stream is open
        while True:
            while self._lines:
                await self._write_some(send, seconds)
            if self._has_ended:
                break
            self._changed.clear()
            try:
                async with asyncio.timeout(_KEEP_ALIVE):
                    await self._changed.wait()
            except TimeoutError:
                await _write(send, b":\n\n", seconds)
        await send({"type": "http.response.body"})

    async def _write_some(self, send: Send, seconds: float) -> None:
        """Write one message, and the next ones that fit into the same chunk."""
        count = 1
        size = len(self._lines[0])
        while count < len(self._lines) and size + len(self._lines[count]) <= _CHUNK_BYTES:
            size += len(self._lines[count])
            count += 1
        for data in _pieces(list(islice(self._lines, count))):
            await _write(send, data, seconds)
            self._on_read()
        for _ in range(min(count, len(self._lines))):
            self._lines.popleft()
        self._set_last_write(size)
        self._on_read()

    def _set_last_write(self, size: int) -> None:
        """Note the size of a write. The write before it has left the server."""
        earlier, self._last_write = self._last_write, size
        self._count(-earlier)

    def _count(self, size: int) -> None:
        self.unread += size
        self._account.set(self, self.unread + len(self._lines) * _MESSAGE_OVERHEAD + self.is_open * _STREAM_OVERHEAD)


def _pieces(lines: list[bytes]) -> Iterator[bytes]:
    """Return the events of messages in pieces, so that a large message is not copied as a whole."""
    if len(lines) == 1 and len(lines[0]) > _CHUNK_BYTES:
        yield b"data: "
        for start in range(0, len(lines[0]), _CHUNK_BYTES):
            yield lines[0][start : start + _CHUNK_BYTES]
        yield b"\n\n"
    else:
        yield b"".join(b"data: %b\n\n" % line for line in lines)


async def _write(send: Send, data: bytes, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await send({"type": "http.response.body", "body": data, "more_body": True})
