"""Decides whether a path leads into a root: by its text, then by resolving its symbolic links."""

from __future__ import annotations

import ntpath
import os
import posixpath
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from errno import ENOTDIR
from pathlib import Path
from typing import cast

from acp_kit.local.confined.errors import InvalidPath, OutsideRoots

# Names of devices in every folder of Windows, with any extension.
_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} | {
    f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"
}
_IS_WINDOWS = sys.platform == "win32"
_WINDOWS_LIMITS = {"PC_PATH_MAX": 32768, "PC_NAME_MAX": 255}


def check_text(path: str, *, windows: bool = _IS_WINDOWS) -> None:
    """Refuse a text that isn't an absolute path, or that the system would change.

    Args:
        path: the text.
        windows: whether to apply the rules of Windows.

    Raises:
        InvalidPath: if it is refused.
    """
    if "\0" in path:
        raise InvalidPath(path, "contains the character NUL")
    if windows:
        _check_windows(path)
    elif not posixpath.isabs(path):
        raise InvalidPath(path, "is not an absolute path")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidPath(path, "has characters that names of files can't have") from None
    _check_length(path, path, "/")


def check_file(path: str, root: Path, names: Sequence[str]) -> None:
    """Refuse a path that no file can have, before its folders are created.

    Args:
        path: the path that the peer sent.
        root: the root that it leads into.
        names: the names below the root.

    Raises:
        InvalidPath: if it is refused.
    """
    if os.path.basename(path) in ("", ".", ".."):
        raise InvalidPath(path, "is the path of a folder, not of a file")
    _check_length(path, root.joinpath(*names), root)
    # Counted in characters, because some file systems don't count bytes. The system refuses names that are too long.
    limit = _limit("PC_NAME_MAX", root)
    if any(len(name) > limit for name in names):
        raise InvalidPath(path, f"has a name of more than {limit} characters")


def _check_length(path: str, real: str | Path, folder: str | Path) -> None:
    limit = _limit("PC_PATH_MAX", folder) - 1  # PATH_MAX includes the NUL at the end
    if len(os.fsencode(real)) > limit:
        raise InvalidPath(path, f"has more than {limit} bytes")


def _limit(name: str, folder: str | Path) -> int:
    if sys.platform == "win32":
        return _WINDOWS_LIMITS[name]
    limit = os.pathconf(folder, name)
    return limit if limit > 0 else sys.maxsize  # some file systems have no limit


def _check_windows(path: str) -> None:
    path = path.replace("/", "\\")
    if path.startswith(("\\\\?\\", "\\\\.\\", "\\??\\")):
        raise InvalidPath(path, "is the path of a device")
    drive, rest = ntpath.splitdrive(path)
    if not drive or not rest.startswith("\\"):
        raise InvalidPath(path, "is not an absolute path")
    for name in rest.split("\\"):
        if ":" in name:
            raise InvalidPath(path, "names a stream inside a file")
        if name.endswith((".", " ")) and name not in (".", ".."):
            raise InvalidPath(path, "has a name that ends with a dot or a space")
        if name.partition(".")[0].rstrip(" ").upper() in _DEVICES:
            raise InvalidPath(path, "has the name of a device in it")


def locate(path: str, roots: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """Return the root that a path leads into, and the names of the folders and the file below it.

    Args:
        path: the path that the peer sent. Its symbolic links are resolved; the file need not exist.
        roots: the roots, from `resolve_roots`.

    Raises:
        InvalidPath: if it isn't an absolute path.
        OutsideRoots: if it leads elsewhere.
    """
    check_text(path)
    # On Windows, resolving a path of a network share sends the user's password hash to its server.
    if _drive(path) not in {_drive(str(root)) for root in roots}:
        raise OutsideRoots(path, roots)
    real = Path(os.path.realpath(path))
    for root in roots:
        if real.is_relative_to(root):
            return root, real.relative_to(root).parts
    for folder in (real, *real.parents):
        if (same_root := _same_folder(folder, roots)) is not None:
            return same_root, real.relative_to(folder).parts
    raise OutsideRoots(path, roots)


def resolve_roots(roots: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Return the resolved paths of roots, without those that are inside others.

    Raises:
        InvalidPath: if one is not an absolute path.
        NotADirectoryError, FileNotFoundError: if one is not a folder.
        TypeError: if one is not a path.
    """
    resolved: list[Path] = []
    for root in roots:
        if not isinstance(cast("object", root), (str, os.PathLike)):
            raise TypeError(f"A root must be a path, not {root!r}. Pass each root as an argument of its own.")
        check_text(os.fspath(root))
        real = Path(os.path.realpath(root, strict=True))
        if not real.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), os.fspath(root))
        resolved.append(real)
    unique = dict.fromkeys(resolved)
    return tuple(root for root in unique if not any(other in root.parents for other in unique))


def _drive(path: str) -> str:
    return os.path.normcase(os.path.splitdrive(path)[0])


def _same_folder(folder: Path, roots: Sequence[Path]) -> Path | None:
    """Return the root that is this folder in another spelling: file systems may ignore case, or the form of accents."""
    with suppress(OSError):
        status = os.lstat(folder)
        for root in roots:
            if stat.S_ISDIR(status.st_mode) and os.path.samestat(status, os.lstat(root)):
                return root
    return None
