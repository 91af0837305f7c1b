"""Where the file system takes two spellings for one folder, both lead into the root."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ToolCallLocation, ToolCallUpdate
from acp_kit.client import allow, reject
from acp_kit.local.confined import ConfinedFiles, OutsideRoots


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that can also be found in capital letters, as on macOS and Windows."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "notes.txt").write_bytes(b"notes")
    lstat = os.lstat

    def without_case(path: str | Path, **more: Any) -> os.stat_result:
        return lstat(str(path).replace("ROOT", "root"), **more)

    monkeypatch.setattr("os.lstat", without_case)
    return folder


def test_a_file_is_found_by_another_spelling_of_its_root(root: Path) -> None:
    files, other = ConfinedFiles(root), root.with_name("ROOT")
    assert files.read(f"{other}/notes.txt") == b"notes"
    assert files.resolve(f"{other}/new/file") == root / "new" / "file"
    with pytest.raises(OutsideRoots):
        files.read(f"{other}/../outside")


def test_a_rule_applies_to_other_spellings_of_its_folder(root: Path) -> None:
    location = ToolCallLocation(path=f"{root.with_name('ROOT')}/notes.txt")
    call = ToolCallUpdate(tool_call_id="1", kind="read", locations=[location])
    assert reject(under=root).matches(call)
    assert allow(under=root).matches(call)
