"""Reads and writes folders as dicts of files, and writes to stdout.

A folder is replaced in two steps: the new files are written to a folder inside it, then moved into place. So a full
disk changes nothing, and Ctrl-C is ignored meanwhile. If the process is killed during the second step, some files are
old: run the command again, or restore the folder with git.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from codegen.errors import OutputError

# Folders in the repository.
SCHEMA_FOLDER = "schema"
GENERATED_FOLDER = "generated"
_NEW = ".codegen-new"
_RESTORE = f"Run the command again, or restore the old files: `git checkout -- {SCHEMA_FOLDER} {GENERATED_FOLDER}`."

# The content of files by their paths, with slashes.
Files: TypeAlias = Mapping[str, bytes]


def replace_folders(contents: Mapping[Path, Files]) -> None:
    """Replace all files of these folders, in this order. Missing folders are created.

    Raises:
        OSError: the new files can't be written. Nothing was changed.
        OutputError: not all new files could be moved into place.
    """
    with ignoring_ctrl_c():
        try:
            for folder, files in contents.items():
                shutil.rmtree(folder / _NEW, ignore_errors=True)
                write_files(folder / _NEW, files)
            with replacing():
                for folder, files in contents.items():
                    _move_into_place(folder, files)
        finally:
            for folder in contents:
                shutil.rmtree(folder / _NEW, ignore_errors=True)


@contextmanager
def ignoring_ctrl_c() -> Generator[None]:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def replacing() -> Generator[None]:
    """Turn OSErrors into errors that say that some files may have been replaced."""
    try:
        yield
    except OSError as error:
        path = error.filename2 or error.filename
        raise OutputError(f"{path}: {error.strerror}. Some files may have been replaced. {_RESTORE}") from error


def _move_into_place(folder: Path, files: Files) -> None:
    """Move the new files of a folder into place, and remove everything else in it."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder / _NEW / name, folder / name)
    for path in sorted(folder.rglob("*"), reverse=True):  # files before their folder
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()


def write_files(folder: Path, files: Files) -> None:
    """Write files to a folder. The folder is created even if there are no files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_bytes(content)
        except OSError as error:
            error.filename = str(path)  # Python names the file only if it can't be opened
            raise


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder, except Python's caches."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write_output(text: str) -> None:
    """Write a text to stdout, and flush it.

    Raises:
        OutputError: stdout can't be written.
    """
    if sys.stdout is None or not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Otherwise Python would write the buffered rest at exit, fail, and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = "" if isinstance(error, BrokenPipeError) else f"Stdout can't be written: {error.strerror}."
        raise OutputError(message) from error
