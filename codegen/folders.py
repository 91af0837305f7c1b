"""Folders that change as a whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def replace_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put a folder with these files in the place of whatever is there. If that fails, nothing has changed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    old = staging / "old"
    try:
        write_files(staging / "new", files)
        if folder.exists():
            folder.rename(old)
        (staging / "new").rename(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        # Without the folder, `old` is the only copy: a second interrupt came before it was back.
        if folder.exists() or not old.exists():
            shutil.rmtree(staging, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path with slashes, but what Python leaves behind."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
