"""Streams for file descriptors that the event loop can't wait for: regular files, /dev/null, and everything on Windows.

A thread reads or writes. The threads are daemons, so one that is stuck in a read doesn't keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

from acp_runtime.connection.forks import abandoned_in_children
from acp_runtime.connection.transport import Receiver

_CHUNK = 64 * 1024
_HIGH_WATER = 64 * 1024


class ThreadReader:
    """Reads from a descriptor, which it owns. The thread waits until the event loop has received each chunk."""

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._may_read = Event()
        self._paused = False
        self._closed = False
        self._receiver: Receiver | None = None
        abandoned_in_children(self)
        Thread(target=self._run, name="acp-read", daemon=True).start()

    def start(self, receiver: Receiver, /) -> None:
        """Start reading."""
        self._receiver = receiver
        self.resume()

    def pause(self) -> None:
        """Stop reading for now. One more chunk may be received."""
        self._paused = True

    def resume(self) -> None:
        """Continue reading."""
        self._paused = False
        self._may_read.set()

    async def stop(self) -> None:
        """Stop reading permanently."""
        self._receiver = None
        self.pause()

    def discard(self) -> None:
        """Continue reading but discard the data, so that the writer is not blocked."""
        self._receiver = None
        self.resume()

    def close(self) -> None:
        """Stop reading. The thread closes the descriptor as soon as its current read returns."""
        self._closed = True
        self._may_read.set()

    def abandon(self) -> None:
        """Close a forked child's copy of the descriptor. The child has no copy of the thread."""
        self._close()

    def read_now(self) -> bool:
        """Return False: the event loop can't make the thread read now."""
        return False

    def end(self) -> None:
        """Do nothing: the thread reads to the end of the stream."""

    def _run(self) -> None:
        try:
            self._wait()
            while not self._closed and (data := os.read(self._fd, _CHUNK)):
                self._loop.call_soon_threadsafe(self._received, data)
                self._wait()
            self._loop.call_soon_threadsafe(self._ended, None)
        except OSError as error:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ended, error)
        except RuntimeError:
            pass  # the event loop is closed
        finally:
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _wait(self) -> None:
        self._may_read.wait()
        self._may_read.clear()

    def _received(self, data: bytes) -> None:
        if self._receiver is not None:
            self._receiver.received(data)
        if not self._paused:
            self._may_read.set()

    def _ended(self, error: OSError | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended(error)


class ThreadWriter:
    """Writes to a descriptor, which it owns.

    Attributes:
        error: why nothing can be written anymore; None while writing works.
    """

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._unwritten = 0
        self._closing = False
        self._changed = asyncio.Event()
        self._on_failure: Callable[[OSError], None] | None = None
        self.error: OSError | None = None
        abandoned_in_children(self)
        Thread(target=self._run, name="acp-write", daemon=True).start()

    @property
    def unwritten(self) -> int:
        """The number of bytes in the queue."""
        return self._unwritten

    def write(self, data: bytes, /) -> None:
        """Queue bytes for the thread."""
        if self.error is not None:
            raise self.error
        if self._closing:
            raise BrokenPipeError("The descriptor is closed.")
        self._unwritten += len(data)
        self._queue.put(data)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Set the function to call if writing fails."""
        self._on_failure = call

    async def drain(self) -> None:
        """Wait while more bytes than the high-water mark are queued. Raise OSError if writing failed."""
        await self._until(_HIGH_WATER)
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        """Write the queued bytes, then close the descriptor."""
        await self._until(0)
        self.abort()

    def abort(self) -> None:
        """Close the descriptor when the queue is empty, without waiting for it."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def abandon(self) -> None:
        """Close a forked child's copy of the descriptor. The child has no copy of the thread."""
        self._closing = True
        self.error = BrokenPipeError("The descriptor belongs to the parent process.")
        self._changed.set()
        self._close()

    async def _until(self, size: int) -> None:
        while self._unwritten > size and self.error is None:
            self._changed.clear()
            await self._changed.wait()

    def _run(self) -> None:
        error: OSError | None = None
        try:
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                while view and error is None:
                    try:
                        view = view[os.write(self._fd, view) :]
                    except OSError as failed:
                        error = failed
                self._loop.call_soon_threadsafe(self._written, len(data), error)
        except RuntimeError:
            pass  # the event loop is closed
        finally:
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _written(self, size: int, error: OSError | None) -> None:
        self._unwritten -= size
        self._changed.set()
        if error is not None and self.error is None:
            self.error = error
            if self._on_failure is not None:
                self._on_failure(error)
