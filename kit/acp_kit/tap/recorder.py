"""Writes what passes through a tap into a recording, in a thread of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import time

from acp_kit.owner_file import OwnerFile
from acp_kit.recording import Direction, format_entry

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
        self._file: OwnerFile | None = OwnerFile(file)
        self._queue: SimpleQueue[tuple[Direction, float, bytes] | None] = SimpleQueue()
        # How many bytes were noted, each written by the thread of its direction, and how many became entries.
        self._noted: dict[Direction, int] = {"c2a": 0, "a2c": 0, "stderr": 0}
        self._done = 0
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def note(self, direction: Direction, data: bytes) -> None:
        """Note bytes. Call it before they are passed on: otherwise the answer may be noted first."""
        if self._file is not None:
            self._noted[direction] += len(data)
            self._queue.put((direction, time(), data))

    def close(self) -> None:
        """Write what was noted, and close the file."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        rests: dict[Direction, list[bytes]] = {"c2a": [], "a2c": [], "stderr": []}
        while (noted := self._queue.get()) is not None:
            direction, at, data = noted
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = b"".join((*rests[direction], lines[0]))
                rests[direction].clear()
                self._write(at, direction, *lines)
                self._done += sum(map(len, lines)) + len(lines)
            if rest:
                rests[direction].append(rest)
            if sum(self._noted.values()) - self._done > _MAX_WAITING:
                self._stop(f"more than {_MAX_WAITING} bytes wait to be written")
                rests[direction].clear()
        for direction, pieces in rests.items():
            self._write(time(), direction, b"".join(pieces))
        if self._file is not None:
            self._file.close()

    def _write(self, at: float, direction: Direction, *lines: bytes) -> None:
        entries = b"".join(format_entry(at, direction, line) for line in lines if line.strip())
        try:
            if self._file is not None:
                self._file.write(entries)
        except OSError as error:
            self._stop(str(error))

    def _stop(self, reason: str) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            sys.stderr.write(f"acp-bindings tap: the recording {self._path} stops here: {reason}\n")
            sys.stderr.flush()
