"""File descriptors as streams, for event loops that can wait for them (POSIX).

A description can be shared with other processes (a terminal, a pipe's end that the parent kept), and O_NONBLOCK belongs
to the description, so it is never set on what this process did not open itself. Waiting until a descriptor is ready
before each call makes blocking calls that do not block: a read gives what is there, and a write of at most PIPE_BUF
bytes fits when there is room.
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

# What a pipe holds by default. A larger buffer would be mapped and unmapped by the system for each read.
_CHUNK = 64 * 1024
_HIGH_WATER = 64 * 1024
# What a pipe holds at most, without privileges.
_MAX_PIPE = 1024 * 1024


def can_wait(fd: int) -> bool:
    """Whether the loop can wait for this descriptor. Not for regular files, nor for /dev/null."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return True
    return stat.S_ISCHR(mode) and os.isatty(fd)


def reopen_terminal(fd: int) -> tuple[int, bool]:
    """Open a terminal anew. A terminal that has some room may have less than PIPE_BUF, and only its own description may
    become non-blocking.

    Returns:
        A descriptor, which takes the place of the given one, and whether its description is still shared.
    """
    try:
        own = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return fd, True
    os.close(fd)
    return own, False


class FdReader:
    """Reads a descriptor, which it owns."""

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._open = True
        self._receiver: Receiver | None = None
        self._made_in = os.getpid()
        abandoned_in_children(self)

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read."""
        self._receiver = receiver
        self.resume()

    def pause(self) -> None:
        """Leave what comes in the descriptor."""
        if self._open:
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Read on."""
        if self._open:
            self._loop.add_reader(self._fd, self._ready)

    async def stop(self) -> None:
        """Read no more."""
        self._receiver = None
        self.pause()

    def discard(self) -> None:
        """Read on, and drop what comes, so that whoever writes is not held up."""
        self._receiver = None
        self.resume()

    def close(self) -> None:
        """Stop reading and close the descriptor."""
        self._finish(None)

    def abandon(self) -> None:
        """Close the copy that a forked child has of the descriptor, and end the child if it returns to the loop."""
        if self._open:
            self._open = False
            os.close(self._fd)
            # A child of another thread doesn't return to the loop.
            with suppress(RuntimeError):
                self._loop.call_soon(leave_if_forked, self._made_in)

    def read_now(self) -> bool:
        """Read what is there, without waiting for more. Whether it can."""
        there = select.poll()
        left = _MAX_PIPE if self._open else 0
        if left:
            there.register(self._fd, select.POLLIN)
        while self._open and left > 0 and there.poll(0):
            left -= _CHUNK
            self._ready()
        return True

    def end(self) -> None:
        """Read what is there, then close, though others could still write."""
        self.read_now()
        self.close()

    def _ready(self) -> None:
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
        shared: whether other processes may share its description. If not, it becomes non-blocking.

    Attributes:
        error: why nothing can be written anymore, if that is so.
    """

    def __init__(self, fd: int, *, shared: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._open = True
        self._put = _writer_of(fd, shared)
        self._kept: deque[memoryview] = deque()
        self._size = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._on_failure: Callable[[OSError], None] | None = None
        self.error: OSError | None = None
        abandoned_in_children(self)

    @property
    def unwritten(self) -> int:
        """Bytes that the descriptor did not take yet."""
        return self._size

    def write(self, data: bytes, /) -> None:
        """Write as much as fits now, and the rest when there is room."""
        if self.error is not None:
            raise self.error
        if not self._open:
            raise BrokenPipeError("The descriptor is closed.")
        if self._kept:
            self._keep(memoryview(data))
            return
        try:
            written = self._put(data)
        except OSError as error:
            self.error = error
            raise
        if written < len(data):
            self._keep(memoryview(data)[written:])
            self._push()
            if self.error is not None:
                raise self.error
            if self._kept:
                self._loop.add_writer(self._fd, self._on_room)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """What to call if writing fails later than in `write`."""
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
        """Close the descriptor, whatever is left."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self.error = self.error or BrokenPipeError("The descriptor is closed.")
            self._wake()

    def abandon(self) -> None:
        """Close the copy that a forked child has of the descriptor. Nothing of what is left is written twice."""
        if self._open:
            self._open = False
            os.close(self._fd)
            self._fail(BrokenPipeError("The descriptor belongs to the parent process."))

    async def _until(self, size: int) -> None:
        while self._size > size and self.error is None:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(waiter)
            await waiter

    def _keep(self, data: memoryview) -> None:
        self._kept.append(data)
        self._size += len(data)

    def _on_room(self) -> None:
        if not self._open:
            return
        self._push()
        if not self._kept:
            self._loop.remove_writer(self._fd)
        if self._size <= _HIGH_WATER:
            self._wake()

    def _push(self) -> None:
        try:
            while self._kept:
                view = self._kept[0]
                written = self._put(view)
                if not written:
                    return
                self._size -= written
                if written == len(view):
                    self._kept.popleft()
                else:
                    self._kept[0] = view[written:]
        except OSError as error:
            self._fail(error)
            if self._on_failure is not None:
                self._on_failure(error)

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._kept.clear()
        self._size = 0
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()


def _writer_of(fd: int, shared: bool) -> Callable[[bytes | memoryview], int]:
    """What writes some bytes and gives their number, 0 if there is no room."""
    if not shared:
        os.set_blocking(fd, False)
        return partial(_write, fd)
    if stat.S_ISSOCK(os.fstat(fd).st_mode):
        return partial(_send, fd)
    room = select.poll()
    room.register(fd, select.POLLOUT)
    return lambda data: _write(fd, data[: select.PIPE_BUF]) if room.poll(0) else 0


def _write(fd: int, data: bytes | memoryview) -> int:
    try:
        return os.write(fd, data)
    except (BlockingIOError, InterruptedError):
        return 0


def _send(fd: int, data: bytes | memoryview) -> int:
    """Write to a socket that may be in blocking mode, without blocking and without changing its mode."""
    end = socket.socket(fileno=fd)
    try:
        return end.send(data, socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return 0
    finally:
        end.detach()
