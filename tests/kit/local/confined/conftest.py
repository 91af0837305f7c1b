"""A root, a folder next to it that nothing may reach, and both ways of opening folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from acp_kit.local.confined import ConfinedFiles, folders

SECRET = b"secret"


@dataclass
class Place:
    """A root with a file and a folder, and a folder outside of it.

    Attributes:
        root: contains `notes.txt` and `folder/notes.txt`.
        outside: contains `notes.txt`, the secret.
        files: the files of the root.
    """

    root: Path
    outside: Path
    files: ConfinedFiles

    def is_untouched(self) -> bool:
        """Return whether everything outside is as it was."""
        names = sorted(os.listdir(self.outside))
        return names == ["notes.txt"] and (self.outside / "notes.txt").read_bytes() == SECRET


@pytest.fixture(params=["by descriptors", "by names"])
def place(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a root. On Windows, and here as well, folders can be opened by their names alone."""
    if request.param == "by descriptors" and not folders.HAS_DESCRIPTORS:
        pytest.skip("This system can't open files through the descriptor of a folder.")
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, root / "folder", outside):
        folder.mkdir()
    for folder in (root, root / "folder"):
        (folder / "notes.txt").write_bytes(b"notes")
    (outside / "notes.txt").write_bytes(SECRET)
    monkeypatch.setattr("acp_kit.local.confined.files.HAS_DESCRIPTORS", request.param == "by descriptors")
    return Place(root, outside, ConfinedFiles(root))
