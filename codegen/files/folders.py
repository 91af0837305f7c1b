"""Replaces folders as a whole or not at all, even if the process is killed in between.

The exception is a folder that can't be moved, such as a mount point or one from a container's image: its files are
replaced one by one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from codegen.files.exchange import exchange
from codegen.files.staging import OLD, staging

# The errors for a folder that can't be moved.
_UNMOVABLE = (errno.EXDEV, errno.EBUSY)


def replace_folder(folder: Path, files: Mapping[str, bytes], *, outside: Path | None = None) -> None:
    """Replace a folder by one with these files, or create it. If that fails, nothing is changed.

    Args:
        folder: the folder, or a link to it.
        files: the new files by their paths in the folder.
        outside: a folder around it in which no temporary files may appear, if there is one.
    """
    with prepared_folder(folder, files, outside=outside) as replace:
        replace()


@contextmanager
def prepared_folder(
    folder: Path, files: Mapping[str, bytes], *, outside: Path | None = None
) -> Generator[Callable[[], object]]:
    """Write the files next to a folder, and yield the function that replaces the folder by them, as `replace_folder`.

    If the function isn't called, nothing is changed.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    with staging(folder, (outside or folder).resolve()) as temporary:
        missing = next((each for each in (*reversed(folder.parents), folder) if not each.exists()), None)
        new = temporary / "new"
        # Missing parents are created in the temporary folder as well, so that all appear in one step.
        write_files(new / folder.relative_to(missing) if missing else new, files)
        yield partial(new.rename, missing) if missing else partial(_swap, folder, new, temporary / OLD)


def _swap(folder: Path, new: Path, old: Path) -> None:
    """Exchange the folders in one step, or rename them in two. `staging` restores the old one if the second fails."""
    try:
        if not exchange(folder, new):
            folder.rename(old)
            new.rename(folder)
    except OSError as error:
        if error.errno not in _UNMOVABLE:
            raise
        move_files(folder, new, read_files(folder))


def move_files(folder: Path, new: Path, old: Mapping[str, bytes]) -> None:
    """Replace the files of a folder one by one by those of `new`. If that fails, restore the `old` files."""
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
    """Write files by their paths in a folder, which is created even if there are no files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            # The error of a full disk has no file name.
            raise OSError(error.errno, error.strerror, error.filename or str(path)) from error


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder by its path with slashes, except Python's caches."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
