"""Streams for pipes, sockets and terminals, which the event loop can wait for (POSIX).

An open file description can be shared with other processes (a terminal, the end of a pipe that the parent kept), and
O_NONBLOCK belongs to the description, so it is set only on pipes that this process made itself. Otherwise, each call
waits until the descriptor is ready. Then blocking calls don't block: a read returns the available bytes, and a write
of at most PIPE_BUF bytes fits.
"""

from __future__ import annotations

import os
import select
from collections import deque
from io import FileIO

from acp_runtime.transports.files import CAPACITY, FileReader, FileWriter

# The maximum capacity of a pipe for unprivileged processes.
_MAX_PIPE = 1024 * 1024
# While reading is paused, seconds between two checks whether the peer has closed its side. The event loop can't wait
# for that alone: it would also wake up for the bytes that have to wait.
_LOOK_FOR_END = 0.25
# A closed pipe is always reported; a socket that the peer has half-closed only on request, and only on Linux.
_HALF_CLOSED: int = getattr(select, "POLLRDHUP", 0)


class FdReader(FileReader):
    """Reads from a pipe, a socket or a terminal."""

    def __init__(self, file: FileIO) -> None:
        super().__init__(file)
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)
        self._end_poll = select.poll()
        self._end_poll.register(file, _HALF_CLOSED)
        self._is_paused = False
        self._looks_for_end = False

    def pause(self) -> None:
        """Stop reading for now, until the peer closes its side."""
        self._is_paused = True
        if not self._file.closed:
            self._loop.remove_reader(self._file)
            if not self._looks_for_end:
                self._looks_for_end = True
                self._loop.call_later(_LOOK_FOR_END, self._look_for_end)

    def resume(self) -> None:
        """Continue reading."""
        self._is_paused = False
        if not self._file.closed:
            self._loop.add_reader(self._file, self._read)

    def _look_for_end(self) -> None:
        self._looks_for_end = False
        if not self._is_paused or self._file.closed or self._receiver is None:
            return
        if self._end_poll.poll(0):
            self._loop.add_reader(self._file, self._read)  # what is left fits into a pipe
        else:
            self.pause()

    def read_now(self) -> bool:
        """Read the available bytes, and return True."""
        left = _MAX_PIPE
        while left > 0 and self._read():
            left -= CAPACITY
        return True

    def end(self) -> None:
        """Read the available bytes, then close, even if other processes could still write."""
        self.read_now()
        self.close()

    def _read(self) -> bool:
        """Read once. Return whether there was something."""
        # There may be nothing any more: the loop calls this, too, for bytes that `read_now` has read meanwhile.
        if self._file.closed or not self._poll.poll(0):
            return False
        try:
            data = self._file.read(CAPACITY)
        except OSError as error:
            self.close(error)
            return False
        if data and self._receiver is not None:
            self._receiver.received(data)
        elif data == b"":  # None if somebody else has set O_NONBLOCK, and taken the bytes
            self.close()
        return bool(data)

    def close(self, error: OSError | None = None) -> None:
        """Stop reading and close the file, because of an error or without one."""
        if not self._file.closed:
            self._loop.remove_reader(self._file)
            self._file.close()
        self._ended(error)


class FdWriter(FileWriter):
    """Writes to a pipe or a socket, which it owns.

    Args:
        file: an unbuffered file.
        shared: whether other processes may share its description. If not, it is made non-blocking.
    """

    def __init__(self, file: FileIO, *, shared: bool) -> None:
        super().__init__(file)
        self._buffer: deque[memoryview] = deque()
        self._poll = select.poll()
        self._poll.register(file, select.POLLOUT)
        self._shared = shared
        if not shared:
            os.set_blocking(file.fileno(), False)

    def _put(self, data: bytes) -> None:
        self._buffer.append(memoryview(data))
        if len(self._buffer) == 1:
            self._flush()
            if self._buffer:
                self._loop.add_writer(self._file, self._on_ready)

    def _close(self) -> None:
        if not self._file.closed:
            self._loop.remove_writer(self._file)
            self._file.close()
        self._buffer.clear()

    def _on_ready(self) -> None:
        self._flush()
        if not self._buffer and not self._file.closed:
            self._loop.remove_writer(self._file)

    def _flush(self) -> None:
        try:
            while self._buffer and (written := self._write_some(self._buffer[0])):
                rest = self._buffer.popleft()[written:]
                if rest:
                    self._buffer.appendleft(rest)
                self._wrote(written)
        except OSError as error:
            self._buffer.clear()
            self._failed(error)

    def _write_some(self, data: memoryview) -> int:
        """Write without blocking, and return the number of bytes written, 0 if none fit."""
        if not self._shared:
            return self._file.write(data) or 0
        return (self._file.write(data[: select.PIPE_BUF]) or 0) if self._poll.poll(0) else 0
