"""Uses this process's stdin and stdout for the protocol, and keeps other code in the process away from them (rule 6).

Meanwhile fd 1 refers to stderr, so that a stray `print`, a C library or a child process can't write between messages,
and fd 0 to /dev/null, so that a child process can't read the client's messages. Both are restored afterwards.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO

from acp_runtime.transports.files import FileReader, FileWriter
from acp_runtime.transports.threads import ThreadReader, ThreadWriter


@contextmanager
def take_over_stdio() -> Generator[tuple[FileReader, FileWriter]]:
    """Yield a reader of stdin and a writer to stdout, which nothing else can use during the `with` block."""
    to_stderr = 2 if sys.__stderr__ is not None else None
    with _move(1, sys.__stdout__, "wb", to_stderr) as stdout, _move(0, sys.__stdin__, "rb", None) as stdin:
        if stdin.isatty():
            with suppress(AttributeError, OSError, ValueError):  # there may be no stderr
                sys.stderr.write("Waiting for an ACP client on stdin. It is a terminal: editors start agents.\n")
        reader, writer = open_reader(stdin), open_writer(stdout, shared=True)
        try:
            yield reader, writer
        finally:
            reader.close()
            writer.abort()


def open_reader(file: FileIO) -> FileReader:
    """Return a reader of an unbuffered file: on the event loop if it can wait for the file, else in a thread."""
    if sys.platform != "win32" and (_is_pipe(file) or file.isatty()):
        from acp_runtime.transports.descriptors import FdReader

        return FdReader(file)
    return ThreadReader(file)


def open_writer(file: FileIO, *, shared: bool) -> FileWriter:
    """Return a writer to an unbuffered file: on the event loop if it can wait for the file, else in a thread.

    A terminal that is ready may have less room than a write needs, so a thread writes to it.
    """
    if sys.platform != "win32" and _is_pipe(file):
        from acp_runtime.transports.descriptors import FdWriter

        return FdWriter(file, shared=shared)
    return ThreadWriter(file)


def _is_pipe(file: FileIO) -> bool:
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def _move(number: int, stream: object, mode: str, to: int | None) -> Generator[FileIO]:
    """Yield a file like a standard descriptor, which becomes a copy of `to` during the block (None: /dev/null).

    The stream is None if the descriptor was closed when the process started. Then the number is left alone, since the
    event loop may have reused it, and the file is /dev/null.
    """
    if stream is None:
        yield FileIO(os.devnull, mode)
        return
    original, replacement = os.dup(number), os.open(os.devnull, os.O_RDWR) if to is None else os.dup(to)
    os.dup2(replacement, number)
    os.close(replacement)
    _flush()  # the buffered output of `print` goes to stderr, too
    try:
        fd = os.dup(original)
        if sys.platform == "win32":
            import msvcrt

            msvcrt.setmode(fd, os.O_BINARY)
        yield FileIO(fd, mode)
    finally:
        _flush()
        os.dup2(original, number)
        os.close(original)


def _flush() -> None:
    with suppress(AttributeError, OSError, ValueError):  # there may be no stdout
        sys.stdout.flush()
