"""Fills a folder once for all test processes, because filling it is expensive."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock


def fill_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder unless this run or an earlier one has filled it. Other processes wait in the meantime.

    If filling was interrupted, the folder is emptied and filled again.

    Args:
        folder: its name identifies the content, with a version or a hash.
        fill: called with the empty folder.
    """
    done = folder / ".complete"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
    return folder
