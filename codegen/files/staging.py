"""A temporary folder for what is about to replace another folder: on the same file system, and outside of it.

Whoever works in one holds a lock on it, which the system releases even if the process is killed. So a folder that
nobody has locked is left over; the next run removes it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

OLD = "old"


@contextmanager
def staging(target: Path, outside: Path) -> Generator[Path]:
    """A folder to prepare `target` in, which is removed whatever happens.

    What stands in it under `OLD` is all there is of the target while the target itself is missing, so it goes back.

    Args:
        target: the folder that will be replaced.
        outside: where nothing may be left over: `target`, or a folder that holds it.
    """
    home, prefix = _home(target, outside), f".{outside.name}-codegen-"
    for folder in sorted(each for each in home.iterdir() if each.name.startswith(prefix)):
        _remove_left_over(folder, target)
    folder, lock = home / f"{prefix}{token_hex(8)}", None
    try:
        lock = _made(folder)
        yield folder
    finally:
        try:
            _remove(folder, target)
        except BaseException:  # stopped in the middle of it; a second signal is ignored
            _remove(folder, target)
            raise
        finally:
            _unlock(lock)


def _home(target: Path, outside: Path) -> Path:
    """Beside `outside`; or in it, where what is beside is another file system or can't be written to."""
    beside = next(each for each in outside.parents if each.exists())
    there = next(each for each in (target, *target.parents) if each.exists())
    is_same = beside.stat().st_dev == there.stat().st_dev
    return beside if (is_same and os.access(beside, os.W_OK)) or not outside.is_dir() else outside


def _remove(folder: Path, target: Path) -> None:
    old = folder / OLD
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_left_over(folder: Path, target: Path) -> None:
    """Remove the folder of a process that is gone."""
    try:
        lock = _lock(folder, wait=False)
    except OSError:
        return  # somebody works in it
    _remove(folder, target)
    _unlock(lock)


def _made(folder: Path) -> int | None:
    """Make a folder and lock it. If another process removes it before it is locked, it is made again."""
    while True:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder.parent)) from error
        try:
            lock = _lock(folder, wait=True)
        except FileNotFoundError:
            continue
        if folder.exists():
            return lock
        _unlock(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until the process ends or the descriptor is closed. On Windows nothing is locked or left over."""
    if sys.platform == "win32":
        if wait:
            return None
        raise OSError("Folders have no locks here.")
    lock = os.open(folder, os.O_RDONLY)
    try:
        flock(lock, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
