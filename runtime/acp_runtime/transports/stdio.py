"""This process's stdin and stdout as the wire, out of reach of everything else in the process (rule 6).

While it serves, fd 1 is stderr (so that a stray `print`, a C library or a child can't write to the wire) and fd 0 is
empty (so that a child can't eat the client's messages). Both are put back in the end.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from acp_runtime.connection.forks import abandoned_in_children
from acp_runtime.transports.threads import ThreadReader, ThreadWriter

if TYPE_CHECKING:
    from acp_runtime.transports.descriptors import FdReader, FdWriter

    Reader: TypeAlias = FdReader | ThreadReader
    Writer: TypeAlias = FdWriter | ThreadWriter


@contextmanager
def take_over_stdio() -> Generator[tuple[Reader, Writer]]:
    """The streams of stdin and stdout while the block lasts."""
    with _TakenOver() as (fd_in, fd_out):
        reader, writer = open_reader(fd_in), open_writer(fd_out, shared=True)
        try:
            yield reader, writer
        finally:
            reader.close()
            writer.abort()


def open_reader(fd: int) -> Reader:
    """A stream of a descriptor, by the loop if it can wait for it."""
    if sys.platform != "win32":
        from acp_runtime.transports.descriptors import FdReader, can_wait

        if can_wait(fd):
            return FdReader(fd)
    return ThreadReader(fd)


def open_writer(fd: int, *, shared: bool) -> Writer:
    """A stream to a descriptor, by the loop if it can wait for it."""
    if sys.platform != "win32":
        from acp_runtime.transports.descriptors import FdWriter, can_wait, reopen_terminal

        if shared and os.isatty(fd):
            fd, shared = reopen_terminal(fd)
            return ThreadWriter(fd) if shared else FdWriter(fd, shared=False)
        if can_wait(fd):
            return FdWriter(fd, shared=shared)
    return ThreadWriter(fd)


class _TakenOver:
    """Copies of fd 0 and fd 1 to talk through. The originals lead elsewhere while the block lasts."""

    def __init__(self) -> None:
        self._saved: list[tuple[int, int]] = []

    def __enter__(self) -> tuple[int, int]:
        # None if it was closed when the process started: its number may belong to the event loop by now, and nobody
        # else writes to it.
        has_stdin, has_stdout, has_stderr = (
            each is not None for each in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
        )
        fd_in, fd_out = _copy(0 if has_stdin else None), _copy(1 if has_stdout else None)
        if has_stdin:
            self._saved.append((0, _lead(0, _copy(None))))
        if has_stdout:
            self._saved.append((1, _lead(1, _copy(2 if has_stderr else None))))
        abandoned_in_children(self)
        # What was printed and not yet flushed goes where fd 1 leads now.
        _flush()
        return fd_in, fd_out

    def __exit__(self, *_: object) -> None:
        _flush()
        for fd, original in self._saved:
            os.close(_lead(fd, original))

    def abandon(self) -> None:
        """Close the copies that a forked child has: the client reads EOF when this process ends, not when it does."""
        for _, original in self._saved:
            os.close(original)
        self._saved.clear()


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
