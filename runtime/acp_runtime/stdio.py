"""This process's stdin and stdout as the wire, out of reach of everything else in the process (rule 6).

While it serves, fd 1 is stderr (so that a stray `print`, a C library or a child can't write to the wire) and fd 0 is
empty (so that a child can't eat the client's messages). Both are put back in the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from acp_runtime.connection import Connection
from acp_runtime.errors import ConnectionClosed
from acp_runtime.outbox import ByteReader, ByteWriter
from acp_runtime.threads import ThreadReader, ThreadWriter

if TYPE_CHECKING:
    from acp_runtime.fds import FdReader, FdWriter


@asynccontextmanager
async def wire() -> AsyncGenerator[tuple[ByteReader, ByteWriter]]:
    """The streams of stdin and stdout while the block lasts."""
    with _moved_away() as (fd_in, fd_out):
        reader, writer = open_reader(fd_in), open_writer(fd_out, shared=True)
        try:
            yield reader.reader, writer
        finally:
            reader.close()
            writer.abort()


@contextmanager
def stopped_by_signals(connection: Connection) -> Generator[None]:
    """SIGINT and SIGTERM end the connection cleanly while the block lasts, where the loop can handle signals."""
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        reason = ConnectionClosed(f"{number.name} ended the connection.")
        # Not on Windows, nor outside of the main thread.
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, connection.stop, reason)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def open_reader(fd: int) -> FdReader | ThreadReader:
    """A stream of a descriptor, by the loop if it can wait for it."""
    if sys.platform != "win32":
        from acp_runtime.fds import FdReader, can_wait

        if can_wait(fd):
            return FdReader(fd)
    return ThreadReader(fd)


def open_writer(fd: int, *, shared: bool) -> FdWriter | ThreadWriter:
    """A stream to a descriptor, by the loop if it can wait for it."""
    if sys.platform != "win32":
        from acp_runtime.fds import FdWriter, can_wait

        if can_wait(fd):
            return FdWriter(fd, shared=shared)
    return ThreadWriter(fd)


@contextmanager
def _moved_away() -> Generator[tuple[int, int]]:
    """Copies of fd 0 and fd 1 to talk through; the originals lead elsewhere while the block lasts."""
    saved_in, saved_out = _copy(0, os.O_RDONLY), _copy(1, os.O_WRONLY)
    fd_in, fd_out = os.dup(saved_in), os.dup(saved_out)
    _lead(0, os.open(os.devnull, os.O_RDONLY))
    _lead(1, _copy(2, os.O_WRONLY))
    # What was printed and not yet flushed goes where fd 1 leads now.
    _flush()
    try:
        yield fd_in, fd_out
    finally:
        _flush()
        _lead(0, saved_in)
        _lead(1, saved_out)


def _copy(fd: int, flags: int) -> int:
    """A descriptor like this one, which no child inherits; of /dev/null if this one is closed."""
    try:
        copy = os.dup(fd)
    except OSError:
        copy = os.open(os.devnull, flags)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    # If it took the place of a closed one it must not stay there: that place is about to lead elsewhere.
    return os.dup(copy) if copy <= 2 else copy


def _lead(fd: int, to: int) -> None:
    """Make a standard descriptor lead elsewhere. Takes `to` over."""
    os.dup2(to, fd)
    if to != fd:
        os.close(to)


def _flush() -> None:
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
