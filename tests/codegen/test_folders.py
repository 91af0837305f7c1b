"""A folder that is replaced: the old one or the new one is there, whatever stops it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.folders import replace_folder
from tests.codegen.build import tree

OLD, NEW = {"a": b"old", "sub/b": b"old"}, {"a": b"new", "c": b"new"}
Rename = Callable[[Path, Path], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    replace_folder(tmp_path / "folder", OLD)
    return tmp_path / "folder"


def stop_at(monkeypatch: pytest.MonkeyPatch, *stops: int, after: bool = False) -> None:
    """Interrupt the renames with these numbers, before or after they happen."""
    rename: Rename = Path.rename
    counted: list[Path] = []

    def interrupted(path: Path, target: Path) -> Path:
        counted.append(path)
        if len(counted) in stops and not after:
            raise KeyboardInterrupt
        found = rename(path, target)
        if len(counted) in stops:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Path, "rename", interrupted)


@pytest.mark.parametrize(("number", "after"), [(1, False), (1, True), (2, False)])
def test_an_interrupt_before_the_new_one_is_there_keeps_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, after: bool
) -> None:
    before = tree(folder.parent)
    stop_at(monkeypatch, number, after=after)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(folder, NEW)
    assert tree(folder.parent) == before


def test_an_interrupt_after_that_keeps_the_new_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, 2, after=True)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(folder, NEW)
    assert tree(folder.parent) == {"folder": b"/"} | {f"folder/{name}": content for name, content in NEW.items()}


def test_an_interrupt_while_the_old_one_is_put_back_loses_no_byte(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, 2, 3)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(folder, NEW)
    assert not folder.exists()
    (kept,) = folder.parent.glob(".folder-*/old")
    assert {name: each for name, each in tree(kept).items() if each != b"/"} == OLD
