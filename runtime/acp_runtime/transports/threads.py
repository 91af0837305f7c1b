"""File descriptors as streams by way of threads, for what no event loop can wait for: regular files, /dev/null, and
everything on Windows. The threads are daemons: one that is stuck in a read does not keep the process alive.
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
    """Reads a descriptor, which it owns. The thread reads on when the event loop has taken what it has read."""

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._wanted = Event()
        self._is_wanted = True
        self._closed = False
        self._receiver: Receiver | None = None
        abandoned_in_children(self)
        Thread(target=self._run, name="acp-read", daemon=True).start()

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read."""
        self._receiver = receiver
        self.resume()

    def pause(self) -> None:
        """Leave what comes in the descriptor."""
        self._is_wanted = False

    def resume(self) -> None:
        """Read on."""
        self._is_wanted = True
        self._wanted.set()

    async def stop(self) -> None:
        """Read no more."""
        self._receiver = None
        self.pause()

    def discard(self) -> None:
        """Read on, and drop what comes, so that whoever writes is not held up."""
        self._receiver = None
        self.resume()

    def close(self) -> None:
        """Stop reading. The thread closes the descriptor, as soon as it gets out of it."""
        self._closed = True
        self._wanted.set()

    def abandon(self) -> None:
        """Close the copy that a forked child has of the descriptor. It has no copy of the thread."""
        self._close()

    def read_now(self) -> bool:
        """Say that it can't: the thread reads when it gets to."""
        return False

    def end(self) -> None:
        """Nothing: the thread reads to the end, and can't be told how far that is."""

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
            pass  # The loop is closed: nobody is interested anymore.
        finally:
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _wait(self) -> None:
        self._wanted.wait()
        self._wanted.clear()

    def _received(self, data: bytes) -> None:
        if self._receiver is not None:
            self._receiver.received(data)
        if self._is_wanted:
            self._wanted.set()

    def _ended(self, error: OSError | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended(error)


class ThreadWriter:
    """Writes to a descriptor, which it owns.

    Attributes:
        error: why nothing can be written anymore, if that is so.
    """

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._size = 0
        self._ended = False
        self._changed = asyncio.Event()
        self._on_failure: Callable[[OSError], None] | None = None
        self.error: OSError | None = None
        abandoned_in_children(self)
        Thread(target=self._run, name="acp-write", daemon=True).start()

    @property
    def unwritten(self) -> int:
        """Bytes that the descriptor did not take yet."""
        return self._size

    def write(self, data: bytes, /) -> None:
        """Write in the background."""
        if self.error is not None:
            raise self.error
        if self._ended:
            raise BrokenPipeError("The descriptor is closed.")
        self._size += len(data)
        self._queue.put(data)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """What to call if writing fails."""
        self._on_failure = call

    async def drain(self) -> None:
        """Wait while too much is unwritten."""
        await self._until(_HIGH_WATER)
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        """Write the rest, then close the descriptor."""
        await self._until(0)
        self.abort()

    def abort(self) -> None:
        """Close the descriptor after what is in the queue."""
        if not self._ended:
            self._ended = True
            self._queue.put(None)

    def abandon(self) -> None:
        """Close the copy that a forked child has of the descriptor. It has no copy of the thread."""
        self._ended = True
        self.error = BrokenPipeError("The descriptor belongs to the parent process.")
        self._changed.set()
        self._close()

    async def _until(self, size: int) -> None:
        while self._size > size and self.error is None:
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
            pass  # The loop is closed: nobody is interested anymore.
        finally:
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _written(self, size: int, error: OSError | None) -> None:
        self._size -= size
        self._changed.set()
        if error is not None and self.error is None:
            self.error = error
            if self._on_failure is not None:
                self._on_failure(error)
