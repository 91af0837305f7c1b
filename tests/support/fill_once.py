"""Folders that are expensive to fill: filled once, whichever of the test processes needs them first."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock


def fill_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder unless that was done before, in this run or an earlier one. Other processes wait meanwhile.

    A folder whose filling was interrupted is emptied and filled again.

    Args:
        folder: names what it holds, with a version or a hash.
        fill: gets the empty folder.
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
