"""A log of the messages of a connection, as a file with one JSON object a line."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from logging import getLogger
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from time import time
from typing import Any, cast

from acp_runtime.jsonrpc import ANY, parse, write
from acp_runtime.options import Direction

_logger = getLogger(__name__)

_REDACTED = "[redacted]"
_AUTHORIZATION = ("authorization", "proxy-authorization")
_SECRET = ("env", "headers", *_AUTHORIZATION)

# The user information of a URL, and query parameters whose names end with these words. Neither has characters that JSON
# escapes, and no byte is tried often, so that long lines take little time.
_USER_INFORMATION = re.compile(rb"""://[^\s/?#"\\<>]+@""")
_SECRET_PARAMETER = re.compile(
    rb"""([?&;#][\w.%-]*(?:auth|authorization|credentials?|jwt|key|otp|pass|passphrase|passw(?:or)?d|pwd|secret|sig|"""
    rb"""signature|token)=)[^\s&#"\\<>]+""",
    re.IGNORECASE,
)

# Each exists on some platforms only.
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def redact(line: bytes) -> bytes:
    """Return a message as JSON with secrets redacted, as far as they can be told from other text.

    These are the values of `env`, `headers` and `authorization`, and inside of all texts the user information of URLs
    (`https://user:password@host`) and query parameters whose names end with words such as `key`, `token` or `secret`.
    For a line that isn't JSON, return a note with its size.
    """
    try:
        value = parse(line)
    except ValueError:
        return b'"%d bytes that are not JSON"' % len(line)
    unvisited: list[object] = [value]
    while unvisited:
        each = unvisited.pop()
        if isinstance(each, dict):
            fields = cast("dict[str, Any]", each)
            secret = {key for key in fields if key.lower() in _SECRET}
            if str(fields.get("name")).lower() in _AUTHORIZATION:
                secret |= {"value"} & fields.keys()
            fields.update({key: _redacted(fields[key]) for key in secret})
            unvisited += [value for key, value in fields.items() if key not in secret]
        elif isinstance(each, list):
            unvisited += cast("list[object]", each)
    redacted = _USER_INFORMATION.sub(b"://[redacted]@", write(ANY.to_json, value))
    return _SECRET_PARAMETER.sub(rb"\1[redacted]", redacted)


def _redacted(value: object) -> object:
    """Redact variables or headers, given as an object or as a list of names and values. Names are kept."""
    if isinstance(value, list):
        return [_redacted_item(each) for each in cast("list[object]", value)]
    return _redacted_item(value)


def _redacted_item(value: object) -> object:
    if not isinstance(value, dict):
        return _REDACTED
    fields = cast("dict[str, Any]", value)
    name = fields.get("name") if "value" in fields else None
    return {key: name if key == "name" and isinstance(name, str) else _REDACTED for key in fields}


class FrameLog:
    """Writes each message to a file: `Options(on_frame=FrameLog("acp.jsonl"))`.

    A line is an object with `time` (seconds since 1970), `direction` (`in` or `out`), `size` (bytes on the wire) and
    `message`, without the secrets that `redact` finds. Others may be in its texts, so the file can be read by its owner
    only. A full file is renamed to `<name>.1`, the one before to `<name>.2`, and so on.

    A file that can't be written never disturbs the connection: it is said once at WARNING, and the log ends. One file
    belongs to one process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_bytes: int = 10 * 1024 * 1024,
        backups: int = 3,
        redact: Callable[[bytes], bytes] = redact,
    ) -> None:
        """Open the file, and append to it if it exists. From then on only its owner can read it.

        Args:
            path: the file. Its folder must exist.
            max_bytes: a file that would become larger is renamed first.
            backups: how many renamed files to keep.
            redact: returns the JSON to write for a line; by default `acp_kit.frame_log.redact`.

        Raises:
            ValueError: if `backups` is negative.
            OSError: if the file can't be opened, or belongs to somebody else.
        """
        if backups < 0:
            raise ValueError(f"backups must be at least 0, not {backups}.")
        self._path = Path(path).absolute()
        self._max_bytes = max_bytes
        self._backups = backups
        self._redact = redact
        self._lock = Lock()
        self._file: int | None = None
        self._size = 0
        self._open()

    def __call__(self, direction: Direction, line: bytes, seconds: float) -> None:
        """Write a message. `Options.on_frame` calls this."""
        about = f'{{"time":{time():.6f},"direction":{json.dumps(direction)},"size":{len(line)},"message":'
        entry = about.encode() + self._redact(line) + b"}\n"
        with self._lock:
            if self._file is None:
                return
            try:
                self._write(entry)
            except OSError as error:
                _logger.warning("%s can't be written, so the log of messages ends: %s", self._path, error)
                self._close()

    def close(self) -> None:
        """Close the file. Later messages are not written. May be called twice."""
        with self._lock:
            self._close()

    def __enter__(self) -> FrameLog:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        status = os.fstat(self._file)
        self._size = status.st_size
        if sys.platform != "win32" and S_ISREG(status.st_mode):
            os.fchmod(self._file, 0o600)  # it may exist already
        if self._size:
            os.lseek(self._file, -1, os.SEEK_END)
            if os.read(self._file, 1) != b"\n":
                self._write(b"\n")  # the last line was cut off: the disk was full, or the process was killed

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, entry: bytes) -> None:
        if self._size and self._size + len(entry) > self._max_bytes:
            self._rotate()
        assert self._file is not None
        rest = memoryview(entry)
        while rest:
            written = os.write(self._file, rest)
            self._size += written
            rest = rest[written:]

    def _rotate(self) -> None:
        self._close()
        if self._backups == 0:
            self._path.unlink(missing_ok=True)
        for number in range(self._backups, 0, -1):
            older = self._path if number == 1 else self._backup(number - 1)
            if older.exists():
                older.replace(self._backup(number))
        self._open()

    def _backup(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
