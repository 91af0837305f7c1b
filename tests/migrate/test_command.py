"""The command `python -m acp_migrate`: what it prints, writes and leaves alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from acp_migrate import __main__ as command, files, migration

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")

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
    for name in (".hidden", "venv", "env/lib", "__pycache__", "node_modules", "build/lib", "dist"):
        (folder / name).mkdir(parents=True)
        (folder / name / "other.py").write_text(OLD)
    (folder / "env" / "pyvenv.cfg").write_text("")
    (folder / "pyproject.toml").write_text("")
    (folder / "link.py").symlink_to(program)
    (folder / "linked").symlink_to(folder)
    assert [*files.find([folder])] == [program]
    (folder / "pyproject.toml").unlink()
    assert len([*files.find([folder])]) == 3, "a package may have the name of a folder for what is built"


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


def test_a_file_that_changed_since_it_was_read_is_left(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def late(file: files.File, content: bytes) -> None:
        program.write_text("x = 1\n")
        files.write(file, content)

    monkeypatch.setattr(command, "write", late)
    assert command.main([str(program), "--write"]) == 2
    assert program.read_text() == "x = 1\n"
    printed = capsys.readouterr().err
    assert f"{program} is left as it is: it has changed since it was read\n" in printed
    assert "Changed 0 places in 0 files.\n" in printed


def test_a_read_only_file_is_left(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.chmod(0o444)
    assert command.main([str(program), "--write"]) == 2
    assert program.read_text() == OLD
    assert f"{program} can't be written: it is read-only\n" in capsys.readouterr().err


def test_a_symlink_that_is_named_stays_one(program: Path) -> None:
    link = program.with_name("link.py")
    link.symlink_to(program.name)
    assert command.main([str(link), "--write"]) == 0
    assert link.is_symlink()
    assert program.read_text() == NEW


def test_a_notebook_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.ipynb"
    path.write_text('{"cells": ["from acp import text_block"]}')
    assert command.main([str(path)]) == 2
    assert f"{path} is a notebook" in capsys.readouterr().err


def test_files_that_would_end_the_parser_are_reported_and_left(program: Path) -> None:
    codes = {
        "parentheses": f"x = {'(' * 5000}1{')' * 5000}",
        "and": " and ".join(["x"] * 100_000),
        "minus": f"x = {'-' * 100_000}1",
        "attributes": f"x{'.a' * 5000}",
        "annotation": f'x: "{"(" * 5000}1{")" * 5000}" = 1',
        "null_byte": "x = 1\0",
        "sum": f"x = {' + '.join(['1'] * 1100)}",
    }
    deep = {program.with_name(f"{name}.py"): f"import acp\n\n{code}\n" for name, code in codes.items()}
    for file, text in deep.items():
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "acp_migrate", str(program.parent), "--write"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    for file, text in deep.items():
        assert f"{file} is left as it is: it can't be parsed (" in done.stderr
        assert file.read_text() == text
    assert program.read_text() == NEW


@pytest.mark.parametrize(
    ("step", "error", "reason"),
    [
        ("read_file", RecursionError(), "parsed"),
        ("read_attributes", MemoryError(), "parsed"),
        ("rewrite_module", RecursionError(), "rewritten"),
        ("rewrite_module", TypeError("this is a test"), "rewritten (TypeError: this is a test)"),
    ],
)
def test_an_error_in_one_file_leaves_it_and_rewrites_the_others(
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    step: str,
    error: Exception,
    reason: str,
) -> None:
    other = program.with_name("other.py")
    other.write_text(f"{OLD}\nbroken = 1\n")
    do = getattr(migration, step)

    def fail(first: Any, *arguments: Any, **options: Any) -> object:
        if "broken" in getattr(first, "module", first).code:
            raise error
        return do(first, *arguments, **options)

    monkeypatch.setattr(migration, step, fail)
    assert command.main([str(program.parent), "--write"]) == 2
    assert f"{other} is left as it is: it can't be {reason}" in capsys.readouterr().err
    assert program.read_text() == NEW


def test_what_a_test_replaces_in_another_file_is_marked(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(OLD)
    test = tmp_path / "test_server.py"
    test.write_text(
        "import server\n\n\ndef test(monkeypatch):\n    monkeypatch.setattr('app.server.text_block', None)\n"
        "    monkeypatch.setattr(server, 'text_block', None)\n    monkeypatch.setattr(server, 'other', None)\n"
    )
    assert command.main([str(tmp_path), "--write"]) == 1
    assert test.read_text().count("# acp-migrate: This names `") == 2


@pytest.mark.parametrize(
    ("error", "said"), [(OSError(28, "No space left on device"), "No space left"), (KeyboardInterrupt(), "interrupted")]
)
def test_a_write_that_fails_leaves_the_file_and_nothing_else(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, "replace", fail)
    assert command.main([str(program), "--write"]) == 2
    assert program.read_text() == OLD
    assert [*program.parent.iterdir()] == [program]
    assert said in capsys.readouterr().err


def test_what_a_terminal_can_not_show_is_escaped(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.write_text(f"{OLD}print('ä')\n", "utf-8")
    terminal = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(terminal, "ascii", write_through=True))
    assert command.main([str(program)]) == 0
    assert b"print('\\xe4')" in terminal.getvalue()


def test_a_class_of_another_library_is_not_taken_for_one_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from acp import Agent as Base\n\n\nclass Agent(Base):\n    pass\n")
    other = tmp_path / "other.py"
    text = (
        "from elsewhere import Agent\n\n\nclass Sub(Agent):\n    async def prompt(self, prompt, session_id):\n"
        "        await Agent().cancel('1')\n"
    )
    other.write_text(text)
    command.main([str(tmp_path), "--write"])
    assert other.read_text() == text
