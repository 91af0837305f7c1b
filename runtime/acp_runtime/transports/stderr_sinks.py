"""The destinations that the stderr of a subprocess is forwarded to: this process's stderr, a file, a function."""

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

# More than the capacity of a pipe, so that a slightly slow reader doesn't pause reading.
_MAX_UNWRITTEN = 256 * 1024

_logger = getLogger(__name__)


class Sink(Protocol):
    """Accepts the output of a subprocess on stderr."""

    @property
    def unwritten(self) -> int:
        """The number of buffered bytes."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much is buffered that reading should pause."""
        ...

    def put(self, data: bytes, /) -> None:
        """Write or buffer some bytes. May raise anything; it is not called again then."""
        ...

    def close(self) -> None:
        """Release the destination."""
        ...


def sink_of(where: Stderr) -> Sink | None:
    """Return the sink for `Options.stderr`, or None if stderr is only captured.

    Raises:
        OSError: if the file can't be opened; the message names it.
        ValueError: if the value of the option is invalid.
    """
    if where == "capture":
        return None
    if where == "inherit":
        return _sink_of_this_process()
    if isinstance(where, Path):
        # O_NONBLOCK makes opening a pipe without a reader an error instead of blocking.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return _sink_of_descriptor(os.open(where, flags, 0o666), shared=False)
    if callable(where):
        return _Function(where)
    raise ValueError(f"Options.stderr must be 'inherit', 'capture', a Path or a callable, not {where!r}.")


def _sink_of_this_process() -> Sink | None:
    stream: Any = sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return None
    # The descriptor of a replaced sys.stderr (in a notebook or a full-screen program) may lead somewhere else.
    if not isinstance(stream, io.TextIOWrapper):
        return _Text(stream)
    try:
        fd = stream.fileno()
    except (OSError, ValueError):
        return _Text(stream)
    try:
        return _sink_of_descriptor(os.dup(fd), shared=True)
    except OSError as error:
        log(_logger, WARNING, "The agent's stderr can't be forwarded to this process's stderr: %s", error)
        return None


def _sink_of_descriptor(fd: int, *, shared: bool) -> Sink:
    mode = os.fstat(fd).st_mode
    has_reader = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)
    return _Pipe(fd, shared=shared) if has_reader else _File(fd)


class _Pipe:
    """A descriptor with a reader that may be slow: a pipe, a socket or a terminal. Owns the descriptor."""

    def __init__(self, fd: int, *, shared: bool) -> None:
        self._writer = open_writer(fd, shared=shared)

    @property
    def unwritten(self) -> int:
        return self._writer.unwritten

    @property
    def is_full(self) -> bool:
        return self._writer.unwritten > _MAX_UNWRITTEN

    def put(self, data: bytes, /) -> None:
        self._writer.write(data)

    def close(self) -> None:
        self._writer.abort()


class _Unbuffered:
    """The part of a sink that writes immediately."""

    unwritten: int = 0
    is_full: bool = False


class _File(_Unbuffered):
    """A regular file or a device without a reader. Owns the descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def put(self, data: bytes, /) -> None:
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        os.close(self._fd)


class _Text(_Unbuffered):
    """A text stream, which the application owns."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def put(self, data: bytes, /) -> None:
        self._stream.write(self._decoder.decode(data))
        self._stream.flush()

    def close(self) -> None:
        """Do nothing."""


class _Function(_Unbuffered):
    """A function of the application."""

    def __init__(self, function: Callable[[bytes], object]) -> None:
        self._function = function

    def put(self, data: bytes, /) -> None:
        self._function(data)

    def close(self) -> None:
        """Do nothing."""
