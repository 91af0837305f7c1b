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
from acp_runtime.streams import ByteSource, ByteWriter
from acp_runtime.threads import ThreadReader, ThreadWriter

if TYPE_CHECKING:
    from acp_runtime.fds import FdReader, FdWriter


@asynccontextmanager
async def wire() -> AsyncGenerator[tuple[ByteSource, ByteWriter]]:
    """The streams of stdin and stdout while the block lasts."""
    with _moved_away() as (fd_in, fd_out):
        reader, writer = open_reader(fd_in), open_writer(fd_out, shared=True)
        try:
            yield reader, writer
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
    # Closed when the process started: its number may belong to the event loop by now, and nobody else writes to it.
    has_stdin, has_stdout, has_stderr = (each is not None for each in (sys.__stdin__, sys.__stdout__, sys.__stderr__))
    fd_in, fd_out = _copy(0 if has_stdin else None), _copy(1 if has_stdout else None)
    saved: list[tuple[int, int]] = []
    if has_stdin:
        saved.append((0, _lead(0, _copy(None))))
    if has_stdout:
        saved.append((1, _lead(1, _copy(2 if has_stderr else None))))
    # What was printed and not yet flushed goes where fd 1 leads now.
    _flush()
    try:
        yield fd_in, fd_out
    finally:
        _flush()
        for fd, original in saved:
            os.close(_lead(fd, original))


def _copy(fd: int | None) -> int:
    """A descriptor like this one, which no child inherits; of /dev/null for None."""
    copy = os.open(os.devnull, os.O_RDWR) if fd is None else os.dup(fd)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    return copy


def _lead(fd: int, to: int) -> int:
    """Make a standard descriptor lead elsewhere. Takes `to` over, and gives a copy of where it led before."""
    before = os.dup(fd)
    os.dup2(to, fd)
    os.close(to)
    return before


def _flush() -> None:
    # None where there is no stdout at all, whatever type checkers think.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
