"""The command `python -m acp_kit.migrate`: what it prints, writes and leaves alone."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from acp_kit import extras
from acp_kit.migrate import __main__ as command
from acp_kit.migrate import files

OLD = "from acp import text_block\n\nprint(text_block('hi'))\n"
NEW = "from acp_bindings.v1 import ContentBlockText\n\nprint(ContentBlockText(text='hi'))\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(OLD)
    return path


def test_without_write_it_prints_a_diff_and_changes_nothing(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(program)]) == 0
    printed = capsys.readouterr()
    assert "-from acp import text_block\n+from acp_bindings.v1 import ContentBlockText\n" in printed.out
    assert "in 1 file.\nNothing was written. Add --write to change the files.\n" in printed.err
    assert program.read_text() == OLD


def test_with_write_it_changes_files(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.chmod(0o755)
    assert command.main([str(program.parent), "--write"]) == 0
    assert program.read_text() == NEW
    assert stat.S_IMODE(program.stat().st_mode) == 0o755
    assert capsys.readouterr().out == ""
    assert [*program.parent.iterdir()] == [program]


def test_places_that_are_left_make_it_exit_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text("from acp import stdio_streams\n\nprint(stdio_streams)\n")
    assert command.main([str(path), "--write"]) == 1
    assert f"{path}: 1 place left to you" in capsys.readouterr().err
    once = path.read_text()
    assert command.main([str(path), "--write"]) == 1
    assert path.read_text() == once


def test_a_file_that_does_not_parse_is_reported_and_left(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = program.with_name("broken.py")
    broken.write_text("from acp import text_block\ndef (:\n")
    assert command.main([str(program.parent), "--write"]) == 2
    assert f"{broken} is left as it is: it can't be parsed (line 2" in capsys.readouterr().err
    assert program.read_text() == NEW
    assert broken.read_text() == "from acp import text_block\ndef (:\n"


def test_a_path_that_does_not_exist_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(tmp_path / "missing")]) == 2
    assert "missing does not exist" in capsys.readouterr().err


def test_without_the_extra_it_says_how_to_install_it(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)
    monkeypatch.setattr(command, "require", extras.require)
    assert command.main([str(program)]) == 2
    assert "pip install 'acp-bindings[migrate]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OLD.replace("\n", "\r\n").encode(), NEW.replace("\n", "\r\n").encode()),
        (b"\xef\xbb\xbf" + OLD.encode(), b"\xef\xbb\xbf" + NEW.encode()),
        (f"# coding: latin-1\n# \xe4\n{OLD}".encode("latin-1"), f"# coding: latin-1\n# \xe4\n{NEW}".encode("latin-1")),
        (OLD.rstrip().encode(), NEW.rstrip().encode()),
    ],
    ids=["CRLF", "BOM", "latin-1", "no newline at the end"],
)
def test_line_endings_and_encodings_are_kept(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "program.py"
    path.write_bytes(before)
    assert command.main([str(path), "--write"]) == 0
    assert path.read_bytes() == after


def test_hidden_folders_environments_and_symlinks_are_skipped(program: Path) -> None:
    folder = program.parent
    for name in (".hidden", "venv", "env/lib", "__pycache__", "node_modules"):
        (folder / name).mkdir(parents=True)
        (folder / name / "other.py").write_text(OLD)
    (folder / "env" / "pyvenv.cfg").write_text("")
    (folder / "link.py").symlink_to(program)
    (folder / "linked").symlink_to(folder)
    assert [*files.find([folder])] == [program]


def test_a_failed_write_leaves_the_file_and_nothing_else(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert command.main([str(program), "--write"]) == 2
    assert program.read_text() == OLD
    assert [*program.parent.iterdir()] == [program]


def test_files_see_the_classes_of_others(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from acp import Agent\n\n\nclass Mine(Agent):\n    pass\n")
    other = tmp_path / "other.py"
    other.write_text("from mine import Mine\n\n\nasync def run(mine: Mine):\n    await mine.cancel('1')\n")
    assert command.main([str(tmp_path), "--write"]) == 0
    assert "await mine.session_cancel(CancelNotification(session_id='1'))" in other.read_text()
    assert "from acp_bindings.v1 import CancelNotification\n" in other.read_text()


def test_unstable_names_come_from_the_unstable_profile(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("from acp.schema import ForkSessionRequest, PlanEntry\n\nprint(ForkSessionRequest, PlanEntry)\n")
    assert command.main([str(path), "--write", "--unstable"]) == 0
    assert path.read_text().startswith("from acp_bindings.v1_unstable import ForkSessionRequest, PlanEntry\n")
