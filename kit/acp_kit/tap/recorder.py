"""Writes what passes through a tap into a recording, in a thread of its own."""

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

# How much may wait to be written, and how long a line may be, in bytes. Beyond that the recording stops.
_MAX_WAITING = 512 * 1024 * 1024


class Recorder:
    """Makes lines of the bytes of each direction, and writes whole entries.

    If the file can't be written, or not fast enough, this is said once on stderr, and the recording stops. What is
    noted later is forgotten.
    """

    def __init__(self, file: Path) -> None:
        """Open the file, and start the thread.

        Raises:
            OSError: if the file can't be opened.
        """
        self._path = file
        self._file = OwnerFile(file)
        self._queue: SimpleQueue[tuple[Direction, float, bytes] | None] = SimpleQueue()
        # How many bytes were noted, each written by the thread of its direction.
        self._noted: dict[Direction, int] = {"c2a": 0, "a2c": 0, "stderr": 0}
        self._is_recording = True
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def note(self, direction: Direction, data: bytes) -> None:
        """Note bytes. Call it before they are passed on: otherwise the answer may be noted first."""
        if self._is_recording:
            self._noted[direction] += len(data)
            self._queue.put((direction, time(), data))

    def close(self) -> None:
        """Write what was noted, and close the file."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            with closing(self._file):
                self._write()
        except OSError as error:
            self._is_recording, self._queue = False, SimpleQueue()
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
