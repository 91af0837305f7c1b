"""Uses this process's stdin and stdout for the protocol, and keeps other code in the process away from them (rule 6).

Meanwhile fd 1 refers to stderr, so that a stray `print`, a C library or a child process can't write between messages,
and fd 0 to /dev/null, so that a child process can't read the client's messages. Both are restored afterwards.
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
    """Yield a reader of stdin and a writer to stdout, which nothing else can use during the `with` block."""
    with _Redirection() as (fd_in, fd_out):
        reader, writer = open_reader(fd_in, shared=True), open_writer(fd_out, shared=True)
        try:
            yield reader, writer
        finally:
            reader.close()
            writer.abort()


def open_reader(fd: int, *, shared: bool) -> Reader:
    """Return a reader of a descriptor: on the event loop if it can wait for the descriptor, else in a thread."""
    if sys.platform != "win32":
        from acp_runtime.transports.descriptors import FdReader, can_wait

        if can_wait(fd):
            return FdReader(fd, shared=shared)
    return ThreadReader(fd)


def open_writer(fd: int, *, shared: bool) -> Writer:
    """Return a writer to a descriptor: on the event loop if it can wait for the descriptor, else in a thread."""
    if sys.platform != "win32":
        from acp_runtime.transports.descriptors import FdWriter, can_wait, reopen_terminal

        if shared and os.isatty(fd):
            fd, shared = reopen_terminal(fd)
            return ThreadWriter(fd) if shared else FdWriter(fd, shared=False)
        if can_wait(fd):
            return FdWriter(fd, shared=shared)
    return ThreadWriter(fd)


class _Redirection:
    """Yields copies of fd 0 and fd 1, and redirects the originals during the `with` block."""

    def __init__(self) -> None:
        self._saved: list[tuple[int, int]] = []

    def __enter__(self) -> tuple[int, int]:
        # A stream is None if it was closed when the process started. Its descriptor is left alone then: the event loop
        # may have reused the number.
        has_stdin, has_stdout, has_stderr = (
            each is not None for each in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
        )
        fd_in, fd_out = _copy(0 if has_stdin else None), _copy(1 if has_stdout else None)
        if has_stdin:
            self._saved.append((0, _redirect(0, _copy(None))))
        if has_stdout:
            self._saved.append((1, _redirect(1, _copy(2 if has_stderr else None))))
        abandoned_in_children(self)
        # Send buffered output of `print` to stderr, too.
        _flush()
        return fd_in, fd_out

    def __exit__(self, *_: object) -> None:
        _flush()
        for fd, original in self._saved:
            os.close(_redirect(fd, original))

    def abandon(self) -> None:
        """Close a forked child's copies, so that the client reads EOF as soon as this process ends."""
        for _, original in self._saved:
            os.close(original)
        self._saved.clear()


def _copy(fd: int | None) -> int:
    """Return a copy of a descriptor that child processes don't inherit. For None, open /dev/null."""
    copy = os.open(os.devnull, os.O_RDWR) if fd is None else os.dup(fd)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    return copy


def _redirect(fd: int, to: int) -> int:
    """Make a standard descriptor a copy of `to`, and close `to`. Return a copy of the original descriptor."""
    original = os.dup(fd)
    os.dup2(to, fd)
    os.close(to)
    return original


def _flush() -> None:
    # sys.stdout is None (AttributeError) in a process without stdout.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
