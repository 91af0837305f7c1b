"""A log of the messages of a connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from threading import Lock
from time import time

from acp_kit.recording.owner_file import OwnerFile
from acp_kit.recording.redaction import redact
from acp_runtime.options import Direction

__all__ = ["FrameLog", "redact"]

_logger = getLogger(__name__)


class FrameLog:
    """Writes each message to a file: `Options(on_frame=FrameLog("acp.jsonl"))`.

    Each line is a JSON object with `time` (seconds since 1970), `direction` (`in` or `out`), `size` (bytes on the wire)
    and `message`, without the secrets that `redact` finds. Texts may contain other secrets, so only the owner can read
    the file. A full file is renamed to `<name>.1`, the one before to `<name>.2`, and so on.

    If the file can't be written or closed, this is logged once at WARNING, and nothing more is written. The connection
    continues. Only one process may use a file.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_bytes: int = 10 * 1024 * 1024,
        backups: int = 3,
        redact: Callable[[bytes], bytes] = redact,
    ) -> None:
        """Open the file, and append to it if it exists. Only its owner can read it then.

        Args:
            path: the file. Its folder must exist.
            max_bytes: a file that would become larger is renamed first.
            backups: how many renamed files to keep.
            redact: returns the JSON to write for a line; by default `acp_kit.frame_log.redact`.

        Raises:
            ValueError: if `backups` is negative.
            OSError: if the file can't be opened, or belongs to another user.
        """
        if backups < 0:
            raise ValueError(f"backups must be at least 0, not {backups}.")
        self._path = Path(path).absolute()
        self._max_bytes = max_bytes
        self._backups = backups
        self._redact = redact
        self._lock = Lock()
        self._file: OwnerFile | None = OwnerFile(self._path)

    def __call__(self, direction: Direction, line: bytes, seconds: float) -> None:
        """Write a message. `Options.on_frame` calls this."""
        start = f'{{"time":{time():.6f},"direction":{json.dumps(direction)},"size":{len(line)},"message":'
        entry = start.encode() + self._redact(line) + b"}\n"
        with self._lock:
            if self._file is None:
                return
            try:
                self._write(self._file, entry)
            except OSError as error:
                self._end(error)

    def close(self) -> None:
        """Close the file. Later messages are not written. May be called twice."""
        with self._lock:
            file, self._file = self._file, None
            try:
                if file is not None:
                    file.close()
            except OSError as error:  # such as a full quota, which some file systems report late
                self._end(error)

    def __enter__(self) -> FrameLog:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _end(self, error: OSError) -> None:
        _logger.warning("%s can't be written, so the log of messages ends: %s", self._path, error)
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def _write(self, file: OwnerFile, entry: bytes) -> None:
        if file.size and file.size + len(entry) > self._max_bytes:
            file = self._file = self._rotate(file)
        file.write(entry)

    def _rotate(self, full: OwnerFile) -> OwnerFile:
        full.close()
        if self._backups == 0:
            self._path.unlink(missing_ok=True)
        for number in range(self._backups, 0, -1):
            older = self._path if number == 1 else self._backup(number - 1)
            if older.exists():
                older.replace(self._backup(number))
        return OwnerFile(self._path)

    def _backup(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
