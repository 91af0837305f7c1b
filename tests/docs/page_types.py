"""Type checkers accept the programs of the pages. `make lint` runs this file, `make test` doesn't.

pyright takes 20 seconds. In a fresh clone, mypy reads all of the frameworks, which takes a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.docs.framework_pages import programs
from tests.support.docs.run import run
from tests.support.third_party import python_in


@pytest.mark.timeout(900)
def test_mypy_strict_accepts_the_agents(environment: Path, tmp_path: Path) -> None:
    for name, text in programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    # The cache belongs to the frameworks.
    cache = ["--cache-dir", str(environment / "mypy"), "--python-executable", str(python_in(environment))]
    run([sys.executable, "-m", "mypy", "--strict", *cache, "."], tmp_path)


def test_pyright_accepts_the_programs(programs: Path) -> None:
    """With its default settings, which are those of many editors."""
    run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."], programs)
