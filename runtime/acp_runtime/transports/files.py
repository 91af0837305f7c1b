"""The base of all writers, and the bases of readers and writers of unbuffered files."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from io import FileIO

from acp_runtime.connection.interfaces import Receiver
from acp_runtime.forks import close_in_children

# The default capacity of a pipe. A larger buffer would be mapped and unmapped by the system for each read.
CAPACITY = 64 * 1024
_FORKED = "This process was forked from the one that has the connection."


class FileReader(ABC):
    """Reads from an unbuffered file, which it owns."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._keeps_draining = False
        close_in_children(self)

    def start(self, receiver: Receiver, /) -> None:
        """Start reading."""
        self._receiver = receiver
        self.resume()

    @abstractmethod
    def pause(self) -> None:
        """Stop reading for now."""

    @abstractmethod
    def resume(self) -> None:
        """Continue reading."""

    def keep_draining(self) -> None:
        """From `stop` on, read and discard the data, so that the process at the other end is not blocked."""
        self._keeps_draining = True

    async def stop(self) -> None:
        """Stop delivering to the receiver permanently."""
        self._receiver = None
        if self._keeps_draining:
            self.resume()
        else:
            self.pause()

    def read_now(self) -> bool:
        """Read the available bytes without waiting for more. Return whether this reader can do that."""
        return False

    def end(self) -> None:  # noqa: B027 - a thread reads to the end of the stream
        """Read the available bytes if `read_now` can, then close, even if other processes could still write."""

    @abstractmethod
    def close(self) -> None:
        """Stop reading and close the file."""

    def close_in_child(self) -> None:
        """Close the copy of the file in a forked child, and end when its event loop runs."""
        self._file.close()
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._ended, BrokenPipeError(_FORKED))

    def _ended(self, error: OSError | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended(error)


class BufferedWriter(ABC):
    """Buffers what can't be written at once.

    Args:
        capacity: `drain` waits while more than this number of bytes is buffered.

    Attributes:
        unwritten: the number of buffered bytes.
        error: why nothing can be written anymore; None while writing works.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._loop = asyncio.get_running_loop()
        self.unwritten: int = 0
        self._changed = asyncio.Event()
        self._on_failure: Callable[[OSError], object] | None = None
        self.error: OSError | None = None

    def write(self, data: bytes, /) -> None:
        """Write or buffer some bytes. Raise OSError if writing fails or has failed."""
        if self.error is None:
            self.unwritten += len(data)
            self._put(data)
        if self.error is not None:
            raise self.error

    def on_failure(self, call: Callable[[OSError], object], /) -> None:
        """Set the function to call if writing fails."""
        self._on_failure = call

    async def drain(self) -> None:
        """Wait while more bytes than the capacity are buffered. Raise OSError if writing failed."""
        await self._until(self._capacity)
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        """Write the buffered bytes, then close."""
        await self._until(0)
        self.abort()

    def abort(self) -> None:
        """Close without waiting for the buffered bytes."""
        if self.error is None:
            self._end(BrokenPipeError("This side is closed."))
        self._close()

    @abstractmethod
    def _put(self, data: bytes) -> None:
        """Write some bytes, or keep them until they can be written."""

    @abstractmethod
    def _close(self) -> None:
        """Close. May be called again."""

    def _wrote(self, size: int) -> None:
        self.unwritten -= size
        self._changed.set()

    def _failed(self, error: OSError) -> None:
        self._end(error)
        if self._on_failure is not None:
            self._on_failure(error)

    def _end(self, error: OSError) -> None:
        self.error = error
        self._changed.set()

    async def _until(self, size: int) -> None:
        while self.unwritten > size and self.error is None:
            self._changed.clear()
            await self._changed.wait()


class FileWriter(BufferedWriter):
    """Writes to an unbuffered file, which it owns."""

    def __init__(self, file: FileIO) -> None:
        super().__init__()
        self._file = file
        close_in_children(self)

    def close_in_child(self) -> None:
        """Close the copy of the file in a forked child, and fail when its event loop runs."""
        self._file.close()
        self._close()
        error = BrokenPipeError(_FORKED)
        self.error: OSError | None = error
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._failed, error)
