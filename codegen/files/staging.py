"""Makes a temporary folder, outside of another folder and on the same file system, to prepare its replacement in.

A process locks the temporary folder that it uses; the system releases the lock even if the process is killed. So an
unlocked one was left over by a killed process, and the next run removes it.
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
    """Yield a folder to prepare the replacement of `target` in, and remove it afterwards.

    If `target` is missing then, the folder `OLD` in it is the former target, and is moved back.

    Args:
        target: the folder to replace.
        outside: `target`, or a folder that holds it. The temporary folder is not put in there if possible.
    """
    home, prefix = _home(target, outside), f".{outside.name}-codegen-"
    for folder in sorted(each for each in home.iterdir() if each.name.startswith(prefix)):
        _remove_abandoned(folder, target)
    folder, lock = home / f"{prefix}{token_hex(8)}", None
    try:
        lock = _make_locked(folder)
        yield folder
    finally:
        try:
            _remove(folder, target)
        except BaseException:  # a signal stopped the removal; a second one is ignored
            _remove(folder, target)
            raise
        finally:
            _unlock(lock)


def _home(target: Path, outside: Path) -> Path:
    """Return the parent of `outside`; or `outside` itself, if its parent is not writable or on another file system."""
    beside = next(each for each in outside.parents if each.exists())
    there = next(each for each in (target, *target.parents) if each.exists())
    is_same = beside.stat().st_dev == there.stat().st_dev
    return beside if (is_same and os.access(beside, os.W_OK)) or not outside.is_dir() else outside


def _remove(folder: Path, target: Path) -> None:
    old = folder / OLD
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path, target: Path) -> None:
    """Remove a temporary folder unless a running process uses it."""
    try:
        lock = _lock(folder, wait=False)
    except OSError:
        return  # a running process uses it
    _remove(folder, target)
    _unlock(lock)


def _make_locked(folder: Path) -> int | None:
    """Make a folder and lock it. If another process removes it in between, make it again."""
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
    """Lock a folder until the descriptor is closed or the process ends. On Windows, every folder counts as used."""
    if sys.platform == "win32":
        if wait:
            return None
        raise OSError("Windows can't lock folders.")
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
