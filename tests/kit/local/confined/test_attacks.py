"""Nothing outside of the roots is read or written, and nothing blocks, whatever the path is."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from acp_kit.local.confined import ConfinedFiles, FileTooLarge, InvalidPath, NotARegularFile, OutsideRoots
from tests.kit.local.confined.conftest import SECRET, Place
from tests.support.scale import count

# What the path is made of. "{root}" and "{outside}" are the two folders.
OUTSIDE = {
    "the path of another folder": "{outside}/notes.txt",
    "dots": "{root}/../outside/notes.txt",
    "dots below a folder": "{root}/folder/../../outside/notes.txt",
    "dots after a missing folder": "{root}/missing/../../outside/notes.txt",
    "a sibling whose name begins like the root": "{root}2/notes.txt",
    "the root in capital letters": "{ROOT}/notes.txt",
    "the folder of the root": "{root}/..",
    "a link to a file": "{root}/link to file",
    "a link to a folder": "{root}/link to folder/notes.txt",
    "a link to a link": "{root}/link to link/notes.txt",
    "a relative link": "{root}/relative link/notes.txt",
    "a link to a file that is missing": "{root}/link to missing",
    "dots behind a link": "{root}/link to folder/../outside/notes.txt",
    "the descriptors of this process": "/proc/self/environ",
    "the root of this process": "/proc/self/root{outside}/notes.txt",
    "a device": "/dev/zero",
    "two slashes": "//etc/passwd",
}
INVALID = {
    "a relative path": "notes.txt",
    "dots alone": "../outside/notes.txt",
    "nothing": "",
    "NUL": "{root}/notes.txt\0.png",
    "half of a character": "{root}/\ud83d",
    "a drive": "C:\\Windows\\win.ini",
    "a drive and dots": "C:\\..\\notes.txt",
    "a network share": "\\\\server\\share\\notes.txt",
    "a home": "~/notes.txt",
    "a URL": "file://{root}/notes.txt",
    "a megabyte": "{root}/" + "a/../" * 200_000 + "notes.txt",
}
NOT_FILES = {
    "a folder": "folder",
    "the root": "",
    "a FIFO": "fifo",
    "a socket": "socket",
    "a device": "device",
    "a link to a FIFO": "link to fifo",
}


def _full(place: Place, path: str) -> str:
    for text, folder in (("{root}", place.root), ("{outside}", place.outside)):
        path = path.replace(text, str(folder))
    return path.replace("{ROOT}", str(place.root).upper())


def _add_links(place: Place) -> None:
    (place.root / "link to file").symlink_to(place.outside / "notes.txt")
    (place.root / "link to folder").symlink_to(place.outside)
    (place.root / "link to link").symlink_to(place.root / "link to folder")
    (place.root / "relative link").symlink_to("../outside")
    (place.root / "link to missing").symlink_to(place.outside / "missing.txt")


def _both(place: Place, path: str) -> list[Callable[[], object]]:
    return [lambda: place.files.read(path), lambda: place.files.write(path, b"changed")]


@pytest.mark.parametrize("path", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_what_is_outside_is_neither_read_nor_written(place: Place, path: str) -> None:
    _add_links(place)
    for act in _both(place, full := _full(place, path)):
        with pytest.raises(OutsideRoots) as refused:
            act()
        assert str(refused.value) == f"{full!r} is outside of {place.root}."
    assert place.is_untouched()


@pytest.mark.parametrize("path", INVALID.values(), ids=INVALID.keys())
def test_a_text_that_is_no_absolute_path_is_refused(place: Place, path: str) -> None:
    for act in _both(place, _full(place, path)):
        with pytest.raises(InvalidPath) as refused:
            act()
        assert not isinstance(refused.value, OutsideRoots)
        assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("name", NOT_FILES.values(), ids=NOT_FILES.keys())
def test_what_is_no_regular_file_is_not_opened(place: Place, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(place.root / "fifo")
    (place.root / "link to fifo").symlink_to("fifo")
    monkeypatch.chdir(place.root)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener, suppress(PermissionError):
        listener.bind("socket")
        if name == "device":
            try:
                os.mknod(place.root / "device", 0o020666, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("Only root can create a device.")
        for act in _both(place, os.path.join(place.root, name).rstrip("/")):
            with pytest.raises(NotARegularFile, match="not a file") as refused:
                act()
            assert str(refused.value).startswith(f"'{place.root}")


def test_a_file_without_a_size_is_not_read_endlessly(tmp_path: Path) -> None:
    files = ConfinedFiles("/proc", max_bytes=100)
    with pytest.raises(FileTooLarge):
        files.read("/proc/meminfo")
    assert len(files.read("/proc/meminfo", first=10)) == 10


def test_a_loop_of_links_is_an_error(place: Place) -> None:
    (place.root / "loop").symlink_to("loop")
    for act in _both(place, str(place.root / "loop" / "notes.txt")):
        with pytest.raises(OSError, match="loop"):
            act()


def test_a_root_that_was_replaced_by_a_link_is_not_followed(place: Place) -> None:
    place.root.rename(place.root.with_name("moved"))
    place.root.symlink_to(place.outside)
    for act in _both(place, str(place.root / "notes.txt")):
        with pytest.raises(OutsideRoots):
            act()
    assert place.is_untouched()


@pytest.mark.stress
@pytest.mark.parametrize("swapped", ["folder", "folder/inner", "folder/inner/notes.txt"])
def test_a_link_that_appears_between_check_and_use_is_not_followed(tmp_path: Path, swapped: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        (folder / "folder" / "inner").mkdir(parents=True)
    (root / "folder/inner/notes.txt").write_bytes(b"notes")
    secret = outside / "folder/inner/notes.txt"
    secret.write_bytes(SECRET)
    files, stop = ConfinedFiles(root), Event()
    swapping = Thread(target=_swap, args=(root / swapped, outside / swapped, root / "aside", stop))
    swapping.start()
    contents: set[bytes] = set()
    path = str(root / "folder/inner/notes.txt")
    try:
        for number in itertools.count():
            with suppress(OSError, OutsideRoots):
                contents.add(files.read(path))
            with suppress(OSError, OutsideRoots):
                files.write(path, b"%d" % number)
            # On a busy machine, the file is rarely in its place when its turn comes.
            if number >= count(200, 10_000) and len(contents) > 1:
                break
    finally:
        stop.set()
        swapping.join()
    assert SECRET not in contents
    assert secret.read_bytes() == SECRET
    assert sorted(path.name for path in outside.rglob("*")) == ["folder", "inner", "notes.txt"]


def _swap(path: Path, outside: Path, aside: Path, stop: Event) -> None:
    """Replace a file or folder again and again by a link to another, and put it back."""
    while not stop.is_set():
        with suppress(OSError):
            path.rename(aside)
        _remove(path)
        with suppress(OSError):
            path.symlink_to(outside)
        _remove(path)
        with suppress(OSError):
            aside.rename(path)


def _remove(path: Path) -> None:
    """Remove a link, or the file or folder that a write has made in its place."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
