"""The programs in docs/guides/extension-methods.md run as they are pasted, and type checkers accept them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guides" / "extension-methods.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the Python blocks, each in the file that its first line names."""
    blocks: list[tuple[str, str]] = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in blocks] == ["acme.py", "demo.py"]
    for name, text in blocks:
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_program_prints_what_the_page_says(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "demo.py"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "50 %\n2 files\n")
    assert "It prints `50 %` and `2 files`." in PAGE


@pytest.mark.slow
@pytest.mark.xdist_group("mypy")  # shares the cache of the tests in tests/typing
def test_mypy_strict_accepts_the_program(folder: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "demo.py", "acme.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout
