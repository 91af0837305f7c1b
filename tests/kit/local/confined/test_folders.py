"""A symbolic link is neither entered nor opened, even if it appears only after its path was resolved."""

from __future__ import annotations

import os
from collections.abc import Callable
from errno import ELOOP
from pathlib import Path

import pytest

from acp_kit.local.confined.folders import HAS_DESCRIPTORS, Folder, open_folder

REFUSED = "symbolic link|Not a directory|File exists"
ACTS: dict[str, Callable[[Folder], object]] = {
    "entered": lambda folder: folder.enter("link"),
    "opened for reading": lambda folder: folder.open("link", os.O_RDONLY),
    "opened for writing": lambda folder: folder.open("link", os.O_WRONLY),
    "created": lambda folder: folder.open("link", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
}


@pytest.fixture(params=sorted({False, HAS_DESCRIPTORS}), ids=lambda param: "by descriptors" if param else "by names")
def descriptors(request: pytest.FixtureRequest) -> bool:
    by_descriptors: bool = request.param
    return by_descriptors


@pytest.mark.parametrize("to", ["file", "folder", "missing"])
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_a_link_is_refused(tmp_path: Path, act: Callable[[Folder], object], to: str, descriptors: bool) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(to)
    with (
        open_folder(tmp_path, [], create=False, descriptors=descriptors) as folder,
        pytest.raises(OSError, match=REFUSED),
    ):
        act(folder)
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("create", [False, True])
def test_a_link_on_the_way_is_refused(tmp_path: Path, create: bool, descriptors: bool) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("folder")
    for names in (["link"], ["link", "inner"], ["link", "new"]):
        with (
            pytest.raises(OSError, match=REFUSED),
            open_folder(tmp_path, names, create=create, descriptors=descriptors),
        ):
            pass
    assert os.listdir(tmp_path / "folder") == ["inner"]


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    folder = Folder(tmp_path, None)
    monkeypatch.setattr(os.path, "samestat", lambda *_: False)
    with pytest.raises(OSError, match=os.strerror(ELOOP)):
        folder.open("file", os.O_RDONLY)
