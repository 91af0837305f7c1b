"""Finds, reads and writes Python files."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp

_SKIPPED = {"__pycache__", "node_modules", "site-packages", "venv"}
_BUILT = {"build", "dist"}  # copies, beside a file that says how to build


class Changed(Exception):
    """A file isn't any more as it was when it was read."""


@dataclass(frozen=True)
class File:
    """A Python file.

    Attributes:
        path: where it is.
        content: what it contains.
    """

    path: Path
    content: bytes

    def mentions(self, names: Iterable[str]) -> bool:
        """Return whether a name occurs in the file."""
        words = "|".join(map(re.escape, names))
        return bool(words) and re.search(rb"\b(" + words.encode() + rb")\b", self.content) is not None

    def sets_attributes(self) -> bool:
        """Return whether the file sets an attribute of a local name."""
        return re.search(rb"^\s+(?!self\b)\w+\.\w+ \W?= ", self.content, re.MULTILINE) is not None


def find(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the Python files that paths name or contain, each once.

    Symlinks, hidden folders, virtual environments, installed packages and what was built are left out.

    Raises:
        OSError: a path doesn't exist, or a folder can't be read.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist")
        for each in _below(path) if path.is_dir() else [path]:
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, onerror=_fail):
        folders[:] = sorted(each for each in folders if not _is_skipped(Path(parent) / each))
        yield from (
            path for name in sorted(files) if name.endswith(".py") and not (path := Path(parent) / name).is_symlink()
        )


def _fail(error: OSError) -> None:
    raise error


def _is_skipped(folder: Path) -> bool:
    name = folder.name
    built = name in _BUILT and any((folder.parent / each).exists() for each in ("pyproject.toml", "setup.py"))
    return built or name.startswith(".") or name in _SKIPPED or folder.is_symlink() or (folder / "pyvenv.cfg").exists()


def write(file: File, content: bytes) -> None:
    """Replace the content of a file at once, or leave it as it is if that fails. Its permissions are kept.

    Args:
        file: the file as it was read. If its path is a symlink, what it points to is replaced.
        content: the new content.

    Raises:
        Changed: somebody else has changed it since.
        OSError: it can't be written.
    """
    path = file.path.resolve()
    if path.read_bytes() != file.content:
        raise Changed
    if not path.stat().st_mode & 0o222:
        raise PermissionError(errno.EACCES, "it is read-only")
    number, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as new:
            new.write(content)
        shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
