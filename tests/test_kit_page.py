"""The programs of docs/guides/kit.md run as printed, and type checkers accept them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guides" / "kit.md").read_text("utf-8")
PROGRAMS = dict(re.findall(r"```python\n# (\S+\.py)\n(.*?)```", PAGE, re.DOTALL))

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_the_client_prints_what_the_page_says(folder: Path) -> None:
    printed = run(sys.executable, "kit_client.py", cwd=folder).splitlines()
    assert printed == ["Read poem.txt", "2 lines end_turn", "DONE"]
    assert all(f"`{line}`" in PAGE for line in printed)


@pytest.mark.xdist_group("mypy")
def test_mypy_strict_accepts_the_programs(folder: Path) -> None:
    assert "no issues" in run(sys.executable, "-m", "mypy", "--strict", *PROGRAMS, cwd=folder)
