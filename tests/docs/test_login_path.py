"""The recipe that asks the login shell for its PATH, with shells of all kinds."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.docs.blocks import DOCS, blocks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the shells are scripts of POSIX")

PAGE = DOCS / "guides" / "environment-and-processes.md"
(RECIPE,) = [block.text for block in blocks(PAGE) if block.file_name == "login_path.py"]


def ask(shell: Path, monkeypatch: pytest.MonkeyPatch, timeout: float = 60) -> str:
    monkeypatch.setenv("SHELL", str(shell))
    recipe: dict[str, Any] = {"__name__": "login_path"}
    exec(RECIPE, recipe)
    return str(recipe["login_path"](timeout))


def shell_of(folder: Path, script: str) -> Path:
    """Make a shell, which is called with `-ilc` and the commands to run."""
    shell = folder / "shell"
    shell.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    shell.chmod(0o700)
    return shell


ADDS_A_FOLDER = """
[ "$1" = -ilc ] || exit 1
echo "Welcome! PATH is $PATH"
echo "no job control in this shell" >&2
export PATH="/opt/homebrew/bin:$PATH"
eval "$2"
echo Bye
"""


def test_the_path_is_the_shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(shell_of(tmp_path, ADDS_A_FOLDER), monkeypatch) == f"/opt/homebrew/bin:{os.environ['PATH']}"


@pytest.mark.parametrize("script", ["", "exit 3", "exec sleep 1000"])
def test_without_an_answer_the_path_stays(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(shell_of(tmp_path, script), monkeypatch, 0.05) == os.environ["PATH"]


@pytest.mark.parametrize("name", ["sh", "bash"])
def test_a_real_shell_reads_the_user_s_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".profile").write_text('echo "Hello"\nexport PATH="/opt/homebrew/bin:$PATH"\n', "utf-8")
    assert ask(Path("/bin") / name, monkeypatch).startswith("/opt/homebrew/bin:")
