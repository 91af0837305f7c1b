"""The errors of paths and files."""

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
    """The text isn't a valid path. For example, it is relative or contains NUL.

    Args:
        path: the text.
        problem: what is wrong, as the end of a sentence that begins with the path.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{printable(self.path)!r} {self.problem}."


class OutsideRoots(InvalidPath):
    """The path leads outside the roots, perhaps through a symbolic link.

    Args:
        path: the path.
        roots: the folders whose files may be reached.
    """

    def __init__(self, path: str, roots: Iterable[Path]) -> None:
        self.roots: tuple[Path, ...] = tuple(roots)
        super().__init__(path, f"is outside of {', '.join(map(str, self.roots)) or 'all folders'}")
        self.args: tuple[object, ...] = (path, self.roots)  # for copying and pickling


class _Unusable(OSError):
    def __str__(self) -> str:
        return f"{printable(str(self.filename))!r} {self.strerror}."


class NotARegularFile(_Unusable):
    """The path leads to a folder, a FIFO, a device or a socket instead of a file. It was not opened."""


class FileTooLarge(_Unusable):
    """A file, or the content to write to it, is larger than the limit."""


def not_regular(path: str, mode: int) -> NotARegularFile:
    """Return the error for a path that leads to something else than a file, which has this `st_mode`."""
    return NotARegularFile(EINVAL, f"is {_KINDS.get(stat.S_IFMT(mode), 'no regular file')}, not a file", path)


def too_large(path: str, limit: int) -> FileTooLarge:
    """Return the error for a file with more bytes than the limit."""
    return FileTooLarge(EFBIG, f"is larger than the limit of {limit} bytes", path)
