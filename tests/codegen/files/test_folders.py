"""A folder that can't be moved, such as a mount point, gets its new files one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.files.folders import move_files, read_files, write_files

OLD = {"a": b"old", "sub/b": b"old", "c": b"old"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path / "folder", OLD)
    return tmp_path / "folder"


def test_its_files_are_those_of_the_new_one(folder: Path, tmp_path: Path) -> None:
    new = {"a": b"new", "more/d": b"new"}
    write_files(tmp_path / "new", new)
    move_files(folder, tmp_path / "new", OLD)
    assert read_files(folder) == new


def test_if_that_fails_its_files_are_those_that_were_there(folder: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "new", {"a": b"new", "c/where a file is": b"new"})
    with pytest.raises(OSError, match="File exists"):
        move_files(folder, tmp_path / "new", OLD)
    assert read_files(folder) == OLD
