"""The files of a folder that can't be moved, such as a mount point, are replaced one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.files.folders import move_files, read_files, write_files

OLD = {"a": b"old", "sub/b": b"old", "c": b"old"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path / "folder", OLD)
    return tmp_path / "folder"


def test_its_files_are_replaced_by_the_new_ones(folder: Path, tmp_path: Path) -> None:
    new = {"a": b"new", "more/d": b"new"}
    write_files(tmp_path / "new", new)
    move_files(folder, tmp_path / "new", OLD)
    assert read_files(folder) == new


def test_a_failure_restores_the_old_files(folder: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "new", {"a": b"new", "c/below a file": b"new"})
    with pytest.raises(OSError, match="File exists"):
        move_files(folder, tmp_path / "new", OLD)
    assert read_files(folder) == OLD
