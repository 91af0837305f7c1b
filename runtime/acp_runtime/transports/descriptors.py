"""Streams for file descriptors that the event loop can wait for (POSIX).

An open file description can be shared with other processes (a terminal, the end of a pipe that the parent kept), and
O_NONBLOCK belongs to the description, so it is never set on one that this process did not open itself. Instead, each
call waits until the descriptor is ready. Then blocking calls don't block: a read returns the available bytes, and a
write of at most PIPE_BUF bytes fits.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from acp_runtime.connection.forks import abandoned_in_children, leave_if_forked
from acp_runtime.connection.transport import Receiver

# The default capacity of a pipe. A larger buffer would be mapped and unmapped by the system for each read.
_CHUNK = 64 * 1024
_HIGH_WATER = 64 * 1024
# The maximum capacity of a pipe for unprivileged processes.
_MAX_PIPE = 1024 * 1024


def can_wait(fd: int) -> bool:
    """Return whether the event loop can wait for a descriptor. It can't for regular files and /dev/null."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return True
    return stat.S_ISCHR(mode) and os.isatty(fd)


def reopen_terminal(fd: int) -> tuple[int, bool]:
    """Open a terminal again, to get a description of our own that can be made non-blocking.

    This is necessary because a terminal that is ready for writing may have less room than PIPE_BUF.

    Returns:
        A descriptor that replaces the given one, and whether its description is still shared.
    """
    try:
        own = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return fd, True
    os.close(fd)
    return own, False


class FdReader:
    """Reads from a descriptor, which it owns.

    Args:
        fd: the descriptor.
        shared: whether other processes may share its description. If not, it is made non-blocking, because an event
            loop that a Ctrl-C interrupted and that runs again may call `_read` twice for the same bytes.
    """

    def __init__(self, fd: int, *, shared: bool) -> None:
        if not shared:
            os.set_blocking(fd, False)
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._open = True
        self._receiver: Receiver | None = None
        self._made_in = os.getpid()
        abandoned_in_children(self)

    def start(self, receiver: Receiver, /) -> None:
        """Start reading."""
        self._receiver = receiver
        self.resume()

    def pause(self) -> None:
        """Stop reading for now."""
        if self._open:
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Continue reading."""
        if self._open:
            self._loop.add_reader(self._fd, self._read)

    async def stop(self) -> None:
        """Stop reading permanently."""
        self._receiver = None
        self.pause()

    def discard(self) -> None:
        """Continue reading but discard the data, so that the writer is not blocked."""
        self._receiver = None
        self.resume()

    def close(self) -> None:
        """Stop reading and close the descriptor."""
        self._finish(None)

    def abandon(self) -> None:
        """Close a forked child's copy of the descriptor, and end the child if it returns to the event loop."""
        if self._open:
            self._open = False
            os.close(self._fd)
            # A child that another thread forked doesn't return to the loop.
            with suppress(RuntimeError):
                self._loop.call_soon(leave_if_forked, self._made_in)

    def read_now(self) -> bool:
        """Read the available bytes without waiting for more. Return True: this reader supports it."""
        poll = select.poll()
        left = _MAX_PIPE if self._open else 0
        if left:
            poll.register(self._fd, select.POLLIN)
        while self._open and left > 0 and poll.poll(0):
            left -= _CHUNK
            self._read()
        # The loop may have seen the bytes already and be about to call `_read`, which would block now. Removing the
        # reader cancels that call.
        if self._open and self._loop.remove_reader(self._fd):
            self.resume()
        return True

    def end(self) -> None:
        """Read the available bytes, then close, even if other processes could still write."""
        self.read_now()
        self.close()

    def _read(self) -> None:
        if not self._open:
            return
        try:
            data = os.read(self._fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._finish(error)
            return
        if not data:
            self.close()
        elif self._receiver is not None:
            self._receiver.received(data)

    def _finish(self, error: OSError | None) -> None:
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended(error)


class FdWriter:
    """Writes to a descriptor, which it owns.

    Args:
        fd: the descriptor.
        shared: whether other processes may share its description. If not, it is made non-blocking.

    Attributes:
        error: why nothing can be written anymore; None while writing works.
    """

    def __init__(self, fd: int, *, shared: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._open = True
        self._write_some = _writer_of(fd, shared)
        self._buffer: deque[memoryview] = deque()
        self._buffered = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._on_failure: Callable[[OSError], None] | None = None
        self.error: OSError | None = None
        abandoned_in_children(self)

    @property
    def unwritten(self) -> int:
        """The number of buffered bytes."""
        return self._buffered

    def write(self, data: bytes, /) -> None:
        """Write as much as fits now, and the rest when the descriptor is ready."""
        if self.error is not None:
            raise self.error
        if not self._open:
            raise BrokenPipeError("The descriptor is closed.")
        if self._buffer:
            self._append(memoryview(data))
            return
        try:
            written = self._write_some(data)
        except OSError as error:
            self.error = error
            raise
        if written < len(data):
            self._append(memoryview(data)[written:])
            self._flush()
            if self.error is not None:
                raise self.error
            if self._buffer:
                self._loop.add_writer(self._fd, self._on_ready)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Set the function to call if writing buffered bytes fails."""
        self._on_failure = call

    async def drain(self) -> None:
        """Wait while more bytes than the high-water mark are buffered. Raise OSError if writing failed."""
        await self._until(_HIGH_WATER)
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        """Write the buffered bytes, then close the descriptor."""
        await self._until(0)
        self.abort()

    def abort(self) -> None:
        """Close the descriptor without writing the buffered bytes."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self.error = self.error or BrokenPipeError("The descriptor is closed.")
            self._wake()

    def abandon(self) -> None:
        """Close a forked child's copy of the descriptor. Only the parent writes the buffered bytes."""
        if self._open:
            self._open = False
            os.close(self._fd)
            self._fail(BrokenPipeError("The descriptor belongs to the parent process."))

    async def _until(self, size: int) -> None:
        while self._buffered > size and self.error is None:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    def _append(self, data: memoryview) -> None:
        self._buffer.append(data)
        self._buffered += len(data)

    def _on_ready(self) -> None:
        if not self._open:
            return
        self._flush()
        if not self._buffer:
            self._loop.remove_writer(self._fd)
        if self._buffered <= _HIGH_WATER:
            self._wake()

    def _flush(self) -> None:
        try:
            while self._buffer:
                view = self._buffer[0]
                written = self._write_some(view)
                if not written:
                    return
                self._buffered -= written
                if written == len(view):
                    self._buffer.popleft()
                else:
                    self._buffer[0] = view[written:]
        except OSError as error:
            self._fail(error)
            if self._on_failure is not None:
                self._on_failure(error)

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._buffer.clear()
        self._buffered = 0
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()


def _writer_of(fd: int, shared: bool) -> Callable[[bytes | memoryview], int]:
    """Return a function that writes without blocking and returns the number of bytes written, 0 if none fit."""
    if not shared:
        os.set_blocking(fd, False)
        return partial(_write, fd)
    if stat.S_ISSOCK(os.fstat(fd).st_mode):
        return partial(_send, fd)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return lambda data: _write(fd, data[: select.PIPE_BUF]) if poll.poll(0) else 0


def _write(fd: int, data: bytes | memoryview) -> int:
    try:
        return os.write(fd, data)
    except (BlockingIOError, InterruptedError):
        return 0


def _send(fd: int, data: bytes | memoryview) -> int:
    """Write to a socket without blocking and without changing its mode."""
    borrowed = socket.socket(fileno=fd)
    try:
        return borrowed.send(data, socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return 0
    finally:
        borrowed.detach()
