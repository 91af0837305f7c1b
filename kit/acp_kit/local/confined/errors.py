"""Why a path is refused, or what is in its place."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from errno import EFBIG, EINVAL
from pathlib import Path

from acp_runtime.escaping import printable

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


class InvalidPath(ValueError):
    """The text can't be the path of a file here: it is relative, or has NUL in it, for example.

    Args:
        path: the text.
        problem: what is wrong with it, as the end of a sentence that starts with the path.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{printable(self.path)!r} {self.problem}."


class OutsideRoots(InvalidPath):
    """The path leads to a place outside of the roots, perhaps through a symbolic link.

    Args:
        path: the path as it was given.
        roots: the folders that contain everything that may be reached.
    """

    def __init__(self, path: str, roots: Iterable[Path]) -> None:
        self.roots: tuple[Path, ...] = tuple(roots)
        super().__init__(path, f"is outside of {', '.join(map(str, self.roots))}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.roots)


class NotARegularFile(OSError):
    """A folder, a FIFO, a device or a socket is where a file is expected. It was not opened.

    Args:
        path: its path.
        mode: its type and permissions, as `os.stat` gives them.
    """

    def __init__(self, path: str, mode: int) -> None:
        super().__init__(EINVAL, f"is {_KINDS.get(stat.S_IFMT(mode), 'no regular file')}, not a file", path)
        self.mode = mode

    def __str__(self) -> str:
        return f"{printable(str(self.filename))!r} {self.strerror}."

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.filename, self.mode)


class FileTooLarge(OSError):
    """A file, or what should be written to it, is larger than the limit.

    Args:
        path: its path.
        limit: the limit in bytes.
    """

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(EFBIG, f"is larger than the limit of {limit} bytes", path)
        self.limit = limit

    def __str__(self) -> str:
        return f"{printable(str(self.filename))!r} {self.strerror}."

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.filename, self.limit)
