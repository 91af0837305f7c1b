"""Where a subprocess's stderr is handed on to: this process's stderr, a file, a function."""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
from collections.abc import Callable
from logging import WARNING, getLogger
from pathlib import Path
from typing import Any, Protocol

from acp_runtime.logs import log
from acp_runtime.options import Stderr
from acp_runtime.transports.stdio import open_writer

# More than a pipe holds, so that a reader which is a little behind holds nothing up.
_MOST_UNWRITTEN = 256 * 1024

_logger = getLogger(__name__)


class Sink(Protocol):
    """Takes what a subprocess writes to its stderr."""

    @property
    def unwritten(self) -> int:
        """How many bytes it holds back."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether it holds back so much that it should get nothing more for now."""
        ...

    def put(self, data: bytes, /) -> None:
        """Hand on some bytes. Raises whatever went wrong; it is not called again then."""
        ...

    def close(self) -> None:
        """That was all."""
        ...


def sink_of(where: Stderr) -> Sink | None:
    """The sink that the options ask for, None if stderr is captured alone.

    Raises:
        OSError: if the file can't be opened; names it.
        ValueError: if there is no such option.
    """
    if where == "capture":
        return None
    if where == "inherit":
        return _sink_of_this_process()
    if isinstance(where, Path):
        # A pipe that nobody reads can't be opened without blocking, and is an error then.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return _sink_of_descriptor(os.open(where, flags, 0o666), shared=False)
    if callable(where):
        return _Function(where)
    raise ValueError(f"Options.stderr is 'inherit', 'capture', a Path or a callable, not {where!r}.")


def _sink_of_this_process() -> Sink | None:
    stream: Any = sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return None
    # What replaces it (in a notebook, in a full-screen program) may have a descriptor that leads somewhere else.
    if not isinstance(stream, io.TextIOWrapper):
        return _Text(stream)
    try:
        fd = stream.fileno()
    except (OSError, ValueError):
        return _Text(stream)
    try:
        return _sink_of_descriptor(os.dup(fd), shared=True)
    except OSError as error:
        log(_logger, WARNING, "The agent's stderr can't be passed on to this process's: %s", error)
        return None


def _sink_of_descriptor(fd: int, *, shared: bool) -> Sink:
    mode = os.fstat(fd).st_mode
    has_reader = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)
    return _Pipe(fd, shared=shared) if has_reader else _File(fd)


class _Pipe:
    """Anything that a reader can leave full. Owns the descriptor."""

    def __init__(self, fd: int, *, shared: bool) -> None:
        self._writer = open_writer(fd, shared=shared)

    @property
    def unwritten(self) -> int:
        return self._writer.unwritten

    @property
    def is_full(self) -> bool:
        return self._writer.unwritten > _MOST_UNWRITTEN

    def put(self, data: bytes, /) -> None:
        self._writer.write(data)

    def close(self) -> None:
        self._writer.abort()


class _AtOnce:
    """What holds nothing back."""

    unwritten: int = 0
    is_full: bool = False


class _File(_AtOnce):
    """A regular file or a device without a reader. Owns the descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def put(self, data: bytes, /) -> None:
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        os.close(self._fd)


class _Text(_AtOnce):
    """A text stream without a descriptor, which belongs to somebody else."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def put(self, data: bytes, /) -> None:
        self._stream.write(self._decoder.decode(data))
        self._stream.flush()

    def close(self) -> None:
        """Nothing."""


class _Function(_AtOnce):
    """A function of the application."""

    def __init__(self, function: Callable[[bytes], object]) -> None:
        self._function = function

    def put(self, data: bytes, /) -> None:
        self._function(data)

    def close(self) -> None:
        """Nothing."""
