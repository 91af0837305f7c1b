"""A file of lines that only its owner can read, for messages, which may have secrets."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from stat import S_ISREG

# Each of these flags exists on some platforms only.
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class OwnerFile:
    """Appends lines to a file. Nothing is buffered, so written lines survive the end of the process.

    Attributes:
        size: the size of the file, in bytes.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, and create it if it doesn't exist. Only its owner can read it then.

        Raises:
            OSError: if it can't be opened, or belongs to another user.
        """
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        try:
            status = os.fstat(self._file)
            self.size: int = status.st_size
            if sys.platform != "win32" and S_ISREG(status.st_mode):
                os.fchmod(self._file, 0o600)  # for a file that exists already
            if self.size:
                os.lseek(self._file, -1, os.SEEK_END)
                if os.read(self._file, 1) != b"\n":
                    self.write(b"\n")  # the last line was cut off: the disk was full, or the process was killed
        except BaseException:
            self.close()
            raise

    def write(self, lines: bytes) -> None:
        """Append lines.

        Raises:
            OSError: if they can't be written, or only in part.
        """
        assert self._file is not None
        rest = memoryview(lines)
        while rest:
            written = os.write(self._file, rest)
            self.size += written
            rest = rest[written:]

    def close(self) -> None:
        """Close the file. May be called twice.

        Raises:
            OSError: if the system reports an error. The file counts as closed.
        """
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)
