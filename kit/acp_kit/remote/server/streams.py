"""A stream of events to a client (Server-Sent Events), and what waits until it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.types import Send

_CHUNK = 64 * 1024  # bytes that are sent at once
_KEEP_ALIVE = 15.0  # seconds
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]


class Stream:
    """The messages of a session, or those of the connection itself, in order. At most one client reads them.

    Args:
        on_read: called whenever a client has read something.

    Attributes:
        is_open: whether a client reads.
        unread: how many bytes wait.
        reads: how often something was read.
    """

    def __init__(self, on_read: Callable[[], None]) -> None:
        self._on_read = on_read
        self._lines: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._has_ended = False
        self.is_open = False
        self.unread = 0
        self.reads = 0

    def put(self, line: bytes) -> None:
        """Add a message."""
        self._lines.append(line)
        self.unread += len(line)
        self._changed.set()

    def end(self) -> None:
        """Let the client read what waits, but nothing more."""
        self._has_ended = True
        self._changed.set()

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
        count = size = 0
        events: list[bytes] = []
        while count < len(self._lines) and (not count or size + len(self._lines[count]) <= _CHUNK):
            events += b"data: ", self._lines[count], b"\n\n"
            size += len(self._lines[count])
            count += 1
        data = memoryview(b"".join(events))
        for start in range(0, len(data), _CHUNK):
            await _write(send, bytes(data[start : start + _CHUNK]), seconds)
            self._was_read()
        for _ in range(count):
            self._lines.popleft()
        self.unread -= size
        self._was_read()

    def _was_read(self) -> None:
        self.reads += 1
        self._on_read()


async def _write(send: Send, data: bytes, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await send({"type": "http.response.body", "body": data, "more_body": True})
