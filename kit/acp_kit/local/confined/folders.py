"""Opens a folder below a root name by name, so that no symbolic link can get in between.

On POSIX, each folder is opened through the descriptor of the one that contains it, and a symbolic link is refused by
the system. Moving or replacing a folder meanwhile doesn't affect those that are open. Windows has no such calls: there,
each path is resolved again after its use, and a file that was opened elsewhere is refused. A program that swaps folders
at the right moment can still make an empty temporary file appear outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from errno import ELOOP, ENOTDIR
from pathlib import Path

# Some systems lack these constants. O_PATH needs only the permission to enter a folder.
_PATH: int = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER: int = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# A FIFO or a device that appears after the check must neither block nor become the terminal of this process.
_FILE: int = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))

HAS_DESCRIPTORS: bool = {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd


@contextmanager
def open_folder(root: Path, names: Sequence[str], *, create: bool, descriptors: bool) -> Generator[Folder]:
    """Open a folder below a root.

    Args:
        root: a resolved path.
        names: the names of the folders below it. If one is a symbolic link, the error is ELOOP or ENOTDIR.
        create: whether to create missing folders. They stay, even if writing fails.
        descriptors: whether to open each folder through the descriptor of the one before.
    """
    folder = Folder(root, os.open(root, _PATH | _FOLDER) if descriptors else None)
    try:
        for name in names:
            inner = _enter(folder, name, create)
            folder.close()
            folder = inner
        yield folder
    finally:
        folder.close()


def _enter(folder: Folder, name: str, create: bool) -> Folder:
    try:
        return folder.enter(name)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        folder.make(name)
    return folder.enter(name)


class Folder:
    """A folder below a root. Its methods take the names of its members.

    Args:
        path: its resolved path.
        fd: its descriptor; None to use its path.
    """

    def __init__(self, path: Path, fd: int | None) -> None:
        self._path = path
        self._fd = fd
        self._check()

    def enter(self, name: str) -> Folder:
        """Open a folder in it."""
        path = self._path / name
        if self._fd is not None:
            return Folder(path, os.open(name, _PATH | _FOLDER, dir_fd=self._fd))
        if not stat.S_ISDIR(self.status(name).st_mode):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), name)
        return Folder(path, None)

    def make(self, name: str) -> None:
        """Create a folder in it."""
        self._check()
        os.mkdir(self._member(name), dir_fd=self._fd)
        self._check()

    def status(self, name: str) -> os.stat_result:
        """Return the status of a member. Symbolic links are not followed."""
        status = os.stat(self._member(name), dir_fd=self._fd, follow_symlinks=False)
        self._check()
        return status

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a file in it, and return the descriptor."""
        self._check()
        fd = os.open(self._member(name), flags | _FILE, mode, dir_fd=self._fd)
        try:
            if self._fd is None and not os.path.samestat(self.status(name), os.fstat(fd)):
                raise OSError(ELOOP, os.strerror(ELOOP), name)
        except BaseException:
            os.close(fd)
            if flags & os.O_EXCL:
                with suppress(OSError):
                    self.remove(name)
            raise
        return fd

    def replace(self, name: str, by: str) -> None:
        """Rename a file, replacing any existing one."""
        self._check()
        os.replace(self._member(by), self._member(name), src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._member(name), dir_fd=self._fd)

    def close(self) -> None:
        """Release the folder."""
        if self._fd is not None:
            os.close(self._fd)

    def _member(self, name: str) -> str | Path:
        return name if self._fd is not None else self._path / name

    def _check(self) -> None:
        if self._fd is None and Path(os.path.realpath(self._path)) != self._path:
            raise OSError(ELOOP, os.strerror(ELOOP), str(self._path))
