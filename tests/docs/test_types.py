"""ruff accepts the programs of all pages. `make lint` also runs mypy and pyright on them, in page_types.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.docs.framework_pages import programs as framework_programs
from tests.support.docs.run import RULES, run

pytestmark = pytest.mark.slow


def test_ruff_accepts_the_programs(programs: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    run([*ruff, "check", "--quiet", "--isolated", "--target-version=py311", *RULES, "."], programs)


def test_ruff_accepts_the_agents_on_frameworks(tmp_path: Path) -> None:
    for name, text in framework_programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    run([sys.executable, "-m", "ruff", "check", "--isolated", "--target-version=py311", *RULES, "."], tmp_path)
