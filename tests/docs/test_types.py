"""Type checkers and ruff accept the programs of all pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.docs.blocks import name, pages
from tests.support.docs.files import versions, with_unique_modules
from tests.support.docs.run import RULES
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of all pages. The name of a file begins with its page."""
    folder = tmp_path_factory.mktemp("programs")
    for page in pages():
        slug = name(page).removesuffix(".md").replace("/", "_").replace("-", "_").replace(".", "_")
        for number, files in enumerate(versions(page)):
            for file, text in with_unique_modules(files, f"{slug}_{number}_").items():
                (folder / file).write_text(text, "utf-8")
    return folder


@pytest.mark.xdist_group("mypy")  # shares the cache of the tests in tests/typing
def test_mypy_strict_accepts_the_programs(programs: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "."]
    _run(command, programs)


def test_pyright_accepts_the_programs(programs: Path) -> None:
    """With its default settings, which are those of many editors."""
    _run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."], programs)


def test_ruff_accepts_the_programs(programs: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    _run([*ruff, "check", "--quiet", "--isolated", "--target-version=py311", *RULES, "."], programs)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
