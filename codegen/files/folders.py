"""Folders that change as a whole or not at all, even if the process is killed half-way.

One exception: a folder that can't be moved (a mount point, or one from a container's image) is changed file by file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from codegen.files.exchange import exchange
from codegen.files.staging import OLD, staging

# What says that a folder can't be moved.
_FIXED = (errno.EXDEV, errno.EBUSY)


def replace_folder(folder: Path, files: Mapping[str, bytes], *, outside: Path | None = None) -> None:
    """Put a folder with these files in the place of whatever is there. If that fails, nothing has changed.

    Args:
        folder: the folder, or a link to it.
        files: its files by their paths in it.
        outside: a folder around it in which nothing else may appear, not even for a moment.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    with staging(folder, (outside or folder).resolve()) as temporary:
        missing = next((each for each in (*reversed(folder.parents), folder) if not each.exists()), None)
        new = temporary / "new"
        # With the folders around it that are missing, too, so that all of them appear at once.
        write_files(new / folder.relative_to(missing) if missing else new, files)
        if missing:
            new.rename(missing)
        else:
            _swap(folder, new, temporary / OLD)


def _swap(folder: Path, new: Path, old: Path) -> None:
    """In one step, or in two where there is no such step: then `staging` puts the old folder back if need be."""
    try:
        if not exchange(folder, new):
            folder.rename(old)
            new.rename(folder)
    except OSError as error:
        if error.errno not in _FIXED:
            raise
        move_files(folder, new, read_files(folder))


def move_files(folder: Path, new: Path, old: Mapping[str, bytes]) -> None:
    """The files of one folder to the other, one by one; those that were there come back if it fails."""
    files = read_files(new)
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).replace(folder / name)
        for name in old.keys() - files.keys():
            (folder / name).unlink()
    except BaseException:
        write_files(folder, old)
        raise


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder, which is made even if there are none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            # A full disk doesn't say which file it was.
            raise OSError(error.errno, error.strerror, error.filename or str(path)) from error


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path with slashes, but what Python leaves behind."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
