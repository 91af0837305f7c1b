"""Reads and writes regular files inside roots. All methods block, so call them in a thread."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from errno import ELOOP, ENOTDIR, ETXTBSY
from pathlib import Path
from typing import TypeVar

from acp_kit.local.confined.errors import FileTooLarge, NotARegularFile, OutsideRoots, not_regular, too_large
from acp_kit.local.confined.folders import HAS_DESCRIPTORS, Folder, open_folder
from acp_kit.local.confined.paths import check_file, locate, resolve_roots

T = TypeVar("T")

# How often a path is resolved again if a part of it has become a symbolic link meanwhile.
_ATTEMPTS = 8
_CHUNK_BYTES = 1024 * 1024


class ConfinedFiles:
    """The files inside some folders, the roots. Symbolic links may lead from one root to another, but not outside.

    Args:
        roots: absolute paths of existing folders.
        max_bytes: the size of the largest file that is read or written, in bytes.

    Attributes:
        roots: the roots with symbolic links resolved, without those that are inside others.

    Raises:
        ValueError: if there is no root, or one is not an absolute path.
        OSError: if a root is not an existing folder.
    """

    def __init__(self, *roots: str | os.PathLike[str], max_bytes: int = 16 * 1024 * 1024) -> None:
        if not roots:
            raise ValueError("Pass at least one root: the absolute path of a folder.")
        self.roots: tuple[Path, ...] = resolve_roots(roots)
        self.max_bytes = max_bytes
        self._descriptors = HAS_DESCRIPTORS

    def within(self, *folders: str | os.PathLike[str]) -> ConfinedFiles:
        """Return the files that are also inside one of these folders. Folders that don't exist are ignored."""
        roots: list[Path] = []
        for folder in resolve_roots(folder for folder in folders if os.path.isdir(folder)):
            roots += _inside([folder], self.roots) or _inside(self.roots, [folder])
        files = copy(self)
        files.roots = tuple(roots)
        return files

    def resolve(self, path: str) -> Path:
        """Return the path of a file with its symbolic links resolved. The file need not exist.

        Later, the path may lead elsewhere, so `read` and `write` check it again.

        Raises:
            InvalidPath: if it is not an absolute path; its subclass `OutsideRoots` if it leads outside the roots.
            NotARegularFile: if it is a root.
        """
        root, names = self._locate(path)
        return root.joinpath(*names)

    def resolve_folder(self, path: str) -> Path:
        """Return the path of a folder with its symbolic links resolved. The folder need not exist.

        Raises:
            InvalidPath: if it is not an absolute path; its subclass `OutsideRoots` if it leads outside the roots.
        """
        root, names = locate(path, self.roots)
        return root.joinpath(*names)

    def read(self, path: str, *, first: int | None = None) -> bytes:
        """Return the content of a file.

        Args:
            path: the absolute path.
            first: how many bytes to return from the start. Then the file may have any size.

        Raises:
            InvalidPath: if it is not an absolute path; its subclass `OutsideRoots` if it leads outside the roots.
            NotARegularFile: if it is a folder, a FIFO, a device or a socket.
            FileTooLarge: if it has more than `max_bytes`.
            OSError: if it doesn't exist or can't be read.
        """
        return self._in_folder(path, lambda folder, name: self._read(folder, name, path, first), create=False)

    def write(self, path: str, data: bytes) -> None:
        """Replace the content of a file, or create the file and its missing folders.

        The write is atomic: the file has either the old or the new content. Other hard links to the file keep the old
        content. The file keeps its permissions, and its owner if the system permits that.

        Raises:
            InvalidPath: if it is not an absolute path; its subclass `OutsideRoots` if it leads outside the roots.
            NotARegularFile: if it is a folder, a FIFO, a device or a socket.
            FileTooLarge: if `data` has more than `max_bytes`.
            OSError: if it can't be written, for example because it is read-only. The file is unchanged then.
        """
        if len(data) > self.max_bytes:
            raise too_large(path, self.max_bytes)
        self._in_folder(path, lambda folder, name: _replace(folder, name, path, data), create=True)

    def _locate(self, path: str) -> tuple[Path, tuple[str, ...]]:
        """Return the root of a file, and the names below it."""
        root, names = locate(path, self.roots)
        if not names:
            raise not_regular(path, stat.S_IFDIR)
        check_file(path, root, names)
        return root, names

    def _in_folder(self, path: str, act: Callable[[Folder, str], T], *, create: bool) -> T:
        attempts = 0
        while True:
            attempts += 1
            root, names = self._locate(path)
            try:
                with open_folder(root, names[:-1], create=create, descriptors=self._descriptors) as folder:
                    return act(folder, names[-1])
            except (NotARegularFile, FileTooLarge):
                raise
            except OSError as error:
                if error.errno not in (ELOOP, ENOTDIR) or attempts == _ATTEMPTS:
                    raise OSError(error.errno, error.strerror, path) from error

    def _read(self, folder: Folder, name: str, path: str, first: int | None) -> bytes:
        # Opening a device can have effects, so check before. The file may be replaced, so check again once it is open.
        _check_regular(folder.status(name), path)
        fd = folder.open(name, os.O_RDONLY)
        try:
            status = os.fstat(fd)
            _check_regular(status, path)
            limit = self.max_bytes if first is None else first
            if first is None and status.st_size > limit:
                raise too_large(path, limit)
            data = _read_up_to(fd, limit + (first is None))
        finally:
            os.close(fd)
        if len(data) > limit:  # it has grown, or it is a file of /proc, which has no size
            raise too_large(path, limit)
        return data


def _inside(folders: Sequence[Path], roots: Sequence[Path]) -> list[Path]:
    """Return the folders that are inside roots."""
    inside: list[Path] = []
    for folder in folders:
        with suppress(OutsideRoots):
            root, names = locate(str(folder), roots)
            inside.append(root.joinpath(*names))
    return inside


def _check_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):  # it has become one since the path was resolved
        raise OSError(ELOOP, os.strerror(ELOOP), path)
    if not stat.S_ISREG(status.st_mode):
        raise not_regular(path, status.st_mode)


def _read_up_to(fd: int, limit: int) -> bytes:
    data = bytearray()
    while len(data) < limit and (chunk := os.read(fd, min(_CHUNK_BYTES, limit - len(data)))):
        data += chunk
    return bytes(data)


def _replace(folder: Folder, name: str, path: str, data: bytes) -> None:
    old = _writable(folder, name, path)
    temporary = f".acp-{secrets.token_hex(8)}.tmp"
    # Nobody else may read the new content until it has the permissions of the old file.
    mode = 0o666 if old is None else 0o600
    fd = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        try:
            _write_all(fd, data)
            if old is not None:
                _copy_owner_and_mode(fd, old)
            os.fsync(fd)
        finally:
            os.close(fd)
        folder.replace(name, temporary)
    except BaseException:
        with suppress(OSError):
            folder.remove(temporary)
        raise


def _writable(folder: Folder, name: str, path: str) -> os.stat_result | None:
    """Return the status of an existing file, or None if there is none. Raise OSError if it can't be written."""
    try:
        _check_regular(folder.status(name), path)
        fd = folder.open(name, os.O_WRONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == ETXTBSY:  # a running program, which keeps the old file
            return folder.status(name)
        raise
    try:
        status = os.fstat(fd)
        _check_regular(status, path)
        return status
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _copy_owner_and_mode(fd: int, old: os.stat_result) -> None:
    """Give a new file the owner and the permissions of an old one."""
    if not hasattr(os, "fchmod"):
        return
    mode = stat.S_IMODE(old.st_mode) & 0o777
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError:
            # The group is another one now, so it gets only the permissions of others.
            mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(fd, mode)
