"""Paths that Windows takes for another path, a stream or a device."""

from __future__ import annotations

import pytest

from acp_kit.local.confined import InvalidPath
from acp_kit.local.confined.paths import check_text


@pytest.mark.parametrize(
    "path",
    [
        "C:notes.txt",
        "\\notes.txt",
        "/notes.txt",
        "notes.txt",
        "\\\\?\\C:\\notes.txt",
        "\\\\.\\PhysicalDrive0",
        "//./pipe/name",
        "\\??\\C:\\notes.txt",
        "C:\\notes.txt:stream",
        "C:\\notes.txt::$DATA",
        "C:\\folder.\\notes.txt",
        "C:\\notes.txt.",
        "C:\\notes.txt ",
        "C:\\...\\notes.txt",
        "C:\\NUL",
        "C:\\folder\\con.txt",
        "C:/folder/Com1",
        "C:\\LPT².log",
        "C:\\aux .txt",
        "C:\\CONIN$",
        "C:\\a\0b",
    ],
)
def test_names_with_a_special_meaning_are_refused(path: str) -> None:
    with pytest.raises(InvalidPath):
        check_text(path, windows=True)


@pytest.mark.parametrize(
    "path", ["C:\\notes.txt", "c:/folder/../console.txt", "\\\\server\\share\\notes.txt", "C:\\.\\.git\\a..b"]
)
def test_ordinary_paths_of_windows_are_accepted(path: str) -> None:
    check_text(path, windows=True)


def test_such_names_are_accepted_on_other_systems() -> None:
    for path in ("/NUL", "/notes.txt.", "/a:b", "/a\\b"):
        check_text(path, windows=False)
