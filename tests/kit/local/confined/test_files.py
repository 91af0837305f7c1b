"""Files inside of the roots are read and written; a write replaces the whole file or nothing."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from acp_kit.local.confined import ConfinedFiles, FileTooLarge, InvalidPath, OutsideRoots
from acp_kit.local.confined.paths import check_file
from tests.kit.local.confined.conftest import SECRET, Place
from tests.support.async_tests import no_leaks
from tests.support.scale import count


def test_a_file_is_read(place: Place) -> None:
    assert place.files.read(f"{place.root}/notes.txt") == b"notes"
    assert place.files.read(f"{place.root}/folder/../folder/./notes.txt") == b"notes"
    assert place.files.read(f"{place.root}/notes.txt", first=2) == b"no"


def test_a_new_file_gets_the_folders_that_it_is_in(place: Place) -> None:
    place.files.write(f"{place.root}/new/deep/file.txt", b"new")
    assert (place.root / "new/deep/file.txt").read_bytes() == b"new"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((place.root / "new/deep/file.txt").stat().st_mode) == 0o666 & ~umask


def test_reading_creates_no_folder(place: Place) -> None:
    with pytest.raises(FileNotFoundError):
        place.files.read(f"{place.root}/new/deep/file.txt")
    assert not (place.root / "new").exists()


def test_a_file_may_be_larger_than_one_read(place: Place) -> None:
    data = os.urandom(3 * 1024 * 1024 + 1)
    place.files.write(f"{place.root}/large", data)
    assert place.files.read(f"{place.root}/large") == data


def test_links_inside_of_the_roots_are_followed_and_stay(place: Place) -> None:
    link = place.root / "link"
    link.symlink_to("folder/notes.txt")
    assert place.files.read(str(link)) == b"notes"
    place.files.write(str(link), b"changed")
    assert link.is_symlink()
    assert (place.root / "folder/notes.txt").read_bytes() == b"changed"
    assert place.files.resolve(str(link)) == place.root / "folder/notes.txt"


@pytest.mark.parametrize("replaced", ["folder", "folder/notes.txt"])
def test_a_link_inside_of_the_root_that_appears_between_check_and_use_is_followed(
    place: Place, monkeypatch: pytest.MonkeyPatch, replaced: str
) -> None:
    def replace_and_check(*arguments: Any) -> None:
        check_file(*arguments)
        if not path.is_symlink():
            path.rename(place.root / "old")
            path.symlink_to(place.root / new)

    new = "notes.txt" if replaced.endswith("notes.txt") else "new"
    path = place.root / replaced
    (place.root / "new").mkdir()
    for name in ("notes.txt", "new/notes.txt"):
        (place.root / name).write_bytes(b"new")
    monkeypatch.setattr("acp_kit.local.confined.files.check_file", replace_and_check)
    assert place.files.read(f"{place.root}/folder/notes.txt") == b"new"


def test_a_link_may_lead_to_another_root(place: Place) -> None:
    (place.root / "link").symlink_to(place.outside)
    files = ConfinedFiles(place.root, place.outside)
    assert files.read(f"{place.root}/link/notes.txt") == SECRET


def test_a_hard_link_is_read_and_a_write_does_not_reach_the_other_name(place: Place) -> None:
    os.link(place.outside / "notes.txt", place.root / "hard")
    assert place.files.read(f"{place.root}/hard") == SECRET
    place.files.write(f"{place.root}/hard", b"changed")
    assert (place.root / "hard").read_bytes() == b"changed"
    assert place.is_untouched()


@pytest.mark.parametrize(("mode", "kept"), [(0o600, 0o600), (0o755, 0o755), (0o664, 0o664), (0o4755, 0o755)])
def test_a_file_keeps_its_permissions_but_does_not_run_as_its_owner(place: Place, mode: int, kept: int) -> None:
    path = place.root / "notes.txt"
    path.chmod(mode)
    place.files.write(str(path), b"changed")
    assert stat.S_IMODE(path.stat().st_mode) == kept


def test_nobody_else_reads_the_new_content_before_it_has_the_permissions(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(fd: int, data: bytes) -> int:
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))
        return original(fd, data)

    modes, original = list[int](), os.write
    monkeypatch.setattr(os, "write", write)
    place.files.write(f"{place.root}/notes.txt", b"new")
    assert modes == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_keeps_its_owner(place: Place) -> None:
    path = place.root / "notes.txt"
    os.chown(path, 1234, 5678)
    place.files.write(str(path), b"changed")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(("mode", "kept"), [(0o640, 0o600), (0o664, 0o644), (0o666, 0o666), (0o605, 0o655)])
def test_a_group_that_could_not_be_kept_has_the_permissions_of_others(
    place: Place, monkeypatch: pytest.MonkeyPatch, mode: int, kept: int
) -> None:
    def refuse(fd: int, user: int, group: int) -> None:
        raise PermissionError

    path = place.root / "notes.txt"
    os.chown(path, 1234, 5678)
    path.chmod(mode)
    monkeypatch.setattr(os, "fchown", refuse)
    place.files.write(str(path), b"changed")
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (0, kept)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write read-only files")
def test_a_read_only_file_is_not_replaced(place: Place) -> None:
    path = place.root / "notes.txt"
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        place.files.write(str(path), b"changed")
    assert path.read_bytes() == b"notes"


def test_a_failed_write_leaves_the_file_and_nothing_else(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        place.files.write(f"{place.root}/notes.txt", b"changed")
    assert (place.root / "notes.txt").read_bytes() == b"notes"
    assert sorted(os.listdir(place.root)) == ["folder", "notes.txt"]


def test_no_descriptor_is_left_open(place: Place) -> None:
    with no_leaks():
        for path in ("notes.txt", "folder/notes.txt", "missing/notes.txt", "folder", "../outside/notes.txt"):
            for act in (place.files.read, lambda path: place.files.write(path, b"changed")):
                with suppress(OSError, OutsideRoots):
                    act(f"{place.root}/{path}")


@pytest.mark.stress
def test_a_reader_sees_the_old_content_or_the_new(tmp_path: Path) -> None:
    files, path = ConfinedFiles(tmp_path), f"{tmp_path}/notes.txt"
    files.write(path, b"a" * 100_000)
    for number in range(count(20, 500)):
        with open(path, "rb") as before:
            files.write(path, bytes([97 + number % 26]) * 100_000)
            assert len(set(before.read())) == 1


def test_roots_are_existing_folders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="at least one root"):
        ConfinedFiles()
    with pytest.raises(InvalidPath, match="is not an absolute path"):
        ConfinedFiles("relative")
    for odd in ([tmp_path], None, 5):
        with pytest.raises(TypeError, match=r"must be a path, not .*\. Pass each root as an argument of its own"):
            ConfinedFiles(odd)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        ConfinedFiles(tmp_path / "missing")
    with pytest.raises(NotADirectoryError):
        ConfinedFiles(tmp_path / "file")


def test_a_root_inside_of_another_adds_nothing(place: Place) -> None:
    assert ConfinedFiles(place.root / "folder", place.root, place.root).roots == (place.root,)


def test_a_root_may_be_a_link(place: Place) -> None:
    link = place.root.with_name("link")
    link.symlink_to(place.root)
    files = ConfinedFiles(link)
    assert files.read(f"{link}/notes.txt") == files.read(f"{place.root}/notes.txt") == b"notes"


def test_the_whole_file_system_may_be_the_root(place: Place) -> None:
    assert ConfinedFiles("/").read(f"{place.outside}/notes.txt") == SECRET


@pytest.mark.parametrize("end", ["/", "//", "/.", "/./", "/new/.."])
@pytest.mark.parametrize("name", ["notes.txt", "new", "folder"])
def test_the_path_of_a_folder_is_refused_as_a_file(place: Place, name: str, end: str) -> None:
    path = f"{place.root}/{name}{end}"
    for act in (place.files.read, place.files.resolve, lambda path: place.files.write(path, b"changed")):
        with pytest.raises(InvalidPath, match="is the path of a folder, not of a file"):
            act(path)
    assert (place.root / "notes.txt").read_bytes() == b"notes"
    assert sorted(os.listdir(place.root)) == ["folder", "notes.txt"]
    assert place.files.resolve_folder(f"{place.root}/folder{end}") == place.root / "folder"


def test_16_mib_are_written_and_read_by_default(place: Place) -> None:
    path, data = f"{place.root}/large", bytes(16 * 1024 * 1024)
    place.files.write(path, data)
    assert place.files.read(path) == data
    with pytest.raises(FileTooLarge):
        place.files.write(path, data + b"x")
