"""A stream of events to a client (Server-Sent Events), and what waits until it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from starlette.types import Send

from acp_kit.remote.server.account import Account

_CHUNK = 64 * 1024  # bytes that are sent at once
_KEEP_ALIVE = 15.0  # seconds
_LINE = 100  # bytes that a message takes besides its own
_OPEN = 48 * 1024  # bytes that the server takes for an open stream, with what its client sends meanwhile
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]


class Stream:
    """The messages of a session, or those of the connection itself, in order. At most one client reads them.

    Args:
        on_read: called whenever a client has read something.
        account: counts what waits.

    Attributes:
        is_open: whether a client reads.
        unread: how many bytes wait, with those that the server was given last: it may still have them.
        abort_response: ends the response, although the client doesn't read.
    """

    def __init__(self, on_read: Callable[[], None], account: Account) -> None:
        self._on_read = on_read
        self._account = account
        self._lines: deque[bytes] = deque()
        self._given = 0
        self._changed = asyncio.Event()
        self._has_ended = False
        self.is_open = False
        self.unread = 0
        self.abort_response: Callable[[], object] = lambda: None

    @property
    def waits(self) -> bool:
        """Whether there are messages that the server was not given."""
        return bool(self._lines)

    def put(self, line: bytes) -> None:
        """Add a message."""
        self._lines.append(line)
        self._count(len(line))
        self._changed.set()

    def end(self) -> None:
        """Let the client read what waits, but nothing more."""
        self._has_ended = True
        self._changed.set()
        if not self.is_open:
            self.abort()

    def opened(self, abort: Callable[[], object]) -> None:
        """Note that a client reads, and how to end that."""
        self.is_open, self.abort_response = True, abort
        self._count(0)

    def left(self) -> None:
        """Note that the client doesn't read any more."""
        self.is_open, self.abort_response = False, lambda: None
        self._give(0)

    def abort(self) -> None:
        """Drop what waits, and end the response."""
        self._lines.clear()
        self._given = 0
        self._count(-self.unread)
        self.abort_response()

    async def write(self, send: Send, seconds: float) -> None:
        """Send messages to a client, and comments if there are none, until the stream ends.

        A message that was not sent to its end is sent again to the next client.

        Args:
            send: sends a part of a response.
            seconds: how long the client may read nothing.

        Raises:
            TimeoutError: The client doesn't read.
        """
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
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
        """Write one message, and those after it that fit."""
        count, size = 1, len(self._lines[0])
        while count < len(self._lines) and size + len(self._lines[count]) <= _CHUNK:
            size += len(self._lines[count])
            count += 1
        for data in _pieces(list(islice(self._lines, count))):
            await _write(send, data, seconds)
            self._on_read()
        for _ in range(min(count, len(self._lines))):
            self._lines.popleft()
        self._give(size)
        self._on_read()

    def _give(self, size: int) -> None:
        """Note what the server was given. What it was given before that has left it."""
        given, self._given = self._given, size
        self._count(-given)

    def _count(self, size: int) -> None:
        self.unread += size
        self._account.set(self, self.unread + len(self._lines) * _LINE + self.is_open * _OPEN)


def _pieces(lines: list[bytes]) -> Iterator[bytes]:
    """Return the events of messages in pieces. A large message is not copied as a whole."""
    if len(lines) == 1 and len(lines[0]) > _CHUNK:
        yield b"data: "
        for start in range(0, len(lines[0]), _CHUNK):
            yield lines[0][start : start + _CHUNK]
        yield b"\n\n"
    else:
        yield b"".join(b"data: %b\n\n" % line for line in lines)


async def _write(send: Send, data: bytes, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await send({"type": "http.response.body", "body": data, "more_body": True})
