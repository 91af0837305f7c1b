"""Writes the lines that pass through a tap to a recording, in a thread of its own."""

from __future__ import annotations

import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import time

from acp_kit.recording.file_format import Direction, format_entry
from acp_kit.recording.owner_file import OwnerFile

# The recording stops if more bytes wait to be written, or if a line is longer.
_MAX_WAITING = 512 * 1024 * 1024


class Recorder:
    """Splits the bytes of each direction into lines, and writes them.

    If the file can't be written, or not fast enough, the recording stops, and a line on stderr says so. Later bytes are
    dropped.
    """

    def __init__(self, file: Path) -> None:
        """Open the file, and start the thread.

        Raises:
            OSError: if the file can't be opened.
        """
        self._path = file
        self._file = OwnerFile(file)
        self._queue: SimpleQueue[tuple[Direction, float, bytes] | None] = SimpleQueue()
        # How many bytes were noted. The thread of each direction changes its own number.
        self._noted: dict[Direction, int] = {"c2a": 0, "a2c": 0, "stderr": 0}
        self._is_recording = True
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def note(self, direction: Direction, data: bytes) -> None:
        """Note bytes. Call this before passing them on: otherwise the response may be noted first."""
        if self._is_recording:
            self._noted[direction] += len(data)
            self._queue.put((direction, time(), data))

    def close(self) -> None:
        """Write the noted bytes, and close the file."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            with closing(self._file):
                self._write()
        except OSError as error:
            self._is_recording = False
            self._queue = SimpleQueue()
            sys.stderr.write(f"acp-bindings tap: the recording {self._path} stops here: {error}\n")
            sys.stderr.flush()

    def _write(self) -> None:
        written = 0
        rests: defaultdict[Direction, list[bytes]] = defaultdict(list)
        for direction, at, data in iter(self._queue.get, None):
            head, newline, rest = data.rpartition(b"\n")
            if newline:
                lines = b"".join((*rests.pop(direction, ()), head))
                self._file.write(
                    b"".join(format_entry(at, direction, line) for line in lines.split(b"\n") if line.strip())
                )
                written += len(lines) + 1
            rests[direction].append(rest)
            if sum(self._noted.values()) - written > _MAX_WAITING:
                raise OSError(f"more than {_MAX_WAITING} bytes wait to be written")
        for direction, pieces in rests.items():
            if (line := b"".join(pieces)).strip():
                self._file.write(format_entry(time(), direction, line))
