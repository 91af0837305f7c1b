"""mypy and ruff accept the programs of all pages. `make lint` also runs pyright on them, in page_types.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.docs.run import RULES, run
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.xdist_group("mypy")  # shares the cache of the tests in tests/typing
def test_mypy_strict_accepts_the_programs(programs: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "."]
    run(command, programs)


def test_ruff_accepts_the_programs(programs: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    run([*ruff, "check", "--quiet", "--isolated", "--target-version=py311", *RULES, "."], programs)
