"""Copies the stderr of a subprocess to where `Options.stderr` says, in a thread, and keeps its end.

The pipe is the back-pressure: whatever blocks while it takes the bytes blocks only the subprocess, when it writes.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from io import FileIO, TextIOWrapper
from logging import ERROR, getLogger
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from acp_runtime.logs import log
from acp_runtime.options import Stderr
from acp_runtime.transports.files import CAPACITY
from acp_runtime.transports.threads import write_all

Sink: TypeAlias = Callable[[bytes], object]

_MARK_BYTES = 16

_logger = getLogger(__name__)


class StderrCopy:
    """The stderr of a subprocess.

    Args:
        where: where it is copied to.
        max_tail: how many bytes of its end are kept.

    Raises:
        OSError: if the file can't be opened; the message names it.
    """

    def __init__(self, where: Stderr, max_tail: int) -> None:
        self._max_tail = max_tail
        self._tail = b""
        self._has_ended = False
        # What this process writes to the pipe when the subprocess has exited: a descendant may keep the pipe open.
        self._end_mark = os.urandom(_MARK_BYTES)
        self._files = ExitStack()
        self._sink = _sink_of(where, self._files)
        self._thread = Thread(target=self._copy, name="acp-stderr", daemon=True)

    def open(self) -> FileIO:
        """Make the pipe, and return the end for the subprocess."""
        reading, writing = os.pipe()
        self._reading = self._files.enter_context(FileIO(reading, "rb"))
        self._writing = self._files.enter_context(FileIO(writing, "wb"))
        return self._writing

    def start(self) -> None:
        """Start copying, once the subprocess runs."""
        self._thread.start()

    def close(self) -> None:
        """Close all files if no subprocess was started."""
        self._files.close()

    @property
    def tail(self) -> str:
        """The end of stderr, decoded."""
        return self._tail.decode("utf-8", "replace")

    def is_copied(self) -> bool:
        """Whether everything has been copied."""
        return not self._thread.is_alive()

    def end(self) -> None:
        """End the copy with what is in the pipe now. Waits until the pipe has room."""
        self._has_ended = True
        with suppress(OSError, ValueError), self._writing:  # the copy may have ended just now
            write_all(self._writing, self._end_mark)

    def _copy(self) -> None:
        rest = b""
        with self._files:
            while data := self._reading.read(CAPACITY):
                text, end, _ = (rest + data).partition(self._end_mark)
                rest = self._find_begun_mark(text) if self._has_ended and not end else b""
                self._put(text[: len(text) - len(rest)])
                if end:
                    break

    def _find_begun_mark(self, data: bytes) -> bytes:
        """Return the part of the mark that these bytes end with."""
        lengths = (length for length in range(_MARK_BYTES - 1, 0, -1) if data.endswith(self._end_mark[:length]))
        return self._end_mark[: next(lengths, 0)]

    def _put(self, data: bytes) -> None:
        if not data:
            return
        self._tail = (self._tail + data)[-self._max_tail :] if self._max_tail else b""
        try:
            if self._sink is not None:
                self._sink(data)
        except BaseException as error:
            # Without a sink, stderr is still read, so that a full pipe doesn't block the agent.
            self._sink = None
            log(_logger, ERROR, "Forwarding the agent's stderr failed; the rest of it is not forwarded.", error=error)


def _sink_of(where: Stderr, files: ExitStack) -> Sink | None:
    """Return the function that takes what is copied, or None if stderr is only captured."""
    if where == "capture":
        return None
    if where == "inherit":
        return _sink_of_this_process(files)
    if isinstance(where, Path):
        # O_NONBLOCK makes opening a pipe without a reader an error instead of blocking.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return _sink_of_file(os.open(where, flags, 0o666), files)
    if callable(where):
        return where
    raise ValueError(f"Options.stderr must be 'inherit', 'capture', a Path or a callable, not {where!r}.")


def _sink_of_this_process(files: ExitStack) -> Sink | None:
    stream: Any = sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return None
    # Not through the buffer of sys.stderr: when Python exits, it can't flush a buffer that a thread uses. The
    # descriptor of a replaced sys.stderr (in a notebook or a full-screen program) may lead somewhere else.
    if isinstance(stream, TextIOWrapper):
        with suppress(OSError, ValueError):
            return _sink_of_file(os.dup(stream.fileno()), files)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def put(data: bytes) -> None:
        stream.write(decoder.decode(data))
        stream.flush()

    return put


def _sink_of_file(fd: int, files: ExitStack) -> Sink:
    return partial(write_all, files.enter_context(FileIO(fd, "wb")))
