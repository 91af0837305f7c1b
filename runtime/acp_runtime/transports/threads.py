"""Streams for what the event loop can't wait for: regular files, /dev/null, and everything on Windows.

A thread reads or writes. The threads are daemons, so one that is stuck in a read doesn't keep the process alive.
"""

from __future__ import annotations

import selectors
from contextlib import suppress
from io import FileIO
from queue import SimpleQueue
from threading import Event, Thread

from acp_runtime.transports.files import CAPACITY, FileReader, FileWriter


class ThreadReader(FileReader):
    """Reads from any file. The thread waits until the event loop has received each chunk."""

    def __init__(self, file: FileIO) -> None:
        super().__init__(file)
        self._may_read = Event()
        self._paused = False
        self._closed = False
        Thread(target=self._run, name="acp-read", daemon=True).start()

    def pause(self) -> None:
        """Stop reading for now. One more chunk may be received."""
        self._paused = True

    def resume(self) -> None:
        """Continue reading."""
        self._paused = False
        self._may_read.set()

    def close(self) -> None:
        """Stop reading. The thread closes the file as soon as its current read returns."""
        self._closed = True
        self._may_read.set()

    def _run(self) -> None:
        error: OSError | None = None
        with self._file, suppress(RuntimeError):  # the event loop is closed
            try:
                self._wait()
                while not self._closed and (data := self._file.read(CAPACITY)):
                    self._loop.call_soon_threadsafe(self._received, data)
                    self._wait()
            except OSError as failed:
                error = failed
            self._loop.call_soon_threadsafe(self._ended, error)

    def _wait(self) -> None:
        self._may_read.wait()
        self._may_read.clear()

    def _received(self, data: bytes) -> None:
        if self._receiver is not None:
            self._receiver.received(data)
        if not self._paused:
            self._may_read.set()


class ThreadWriter(FileWriter):
    """Writes to any file."""

    def __init__(self, file: FileIO) -> None:
        super().__init__(file)
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        Thread(target=self._run, name="acp-write", daemon=True).start()

    def _put(self, data: bytes) -> None:
        self._queue.put(data)

    def _close(self) -> None:
        """Let the thread close the file when the queue is empty."""
        self._queue.put(None)

    def _run(self) -> None:
        with self._file, suppress(RuntimeError):  # the event loop is closed
            while (data := self._queue.get()) is not None:
                try:
                    write_all(self._file, data)
                except OSError as error:
                    self._loop.call_soon_threadsafe(self._failed, error)
                    return
                self._loop.call_soon_threadsafe(self._wrote, len(data))


def write_all(file: FileIO, data: bytes) -> None:
    """Write all of these bytes, and wait while the file doesn't take them."""
    view = memoryview(data)
    while view:
        written: int | None = file.write(view)
        if written is None:  # somebody who shares it has set O_NONBLOCK
            with selectors.DefaultSelector() as selector:
                selector.register(file, selectors.EVENT_WRITE)
                selector.select()
        view = view[written or 0 :]
