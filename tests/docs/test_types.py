"""ruff accepts the programs of all pages. `make lint` also runs mypy and pyright on them, in page_types.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.frameworks.framework_pages import programs as framework_programs
from tests.support.programs import run_command

pytestmark = pytest.mark.slow

RUFF = (
    sys.executable,
    "-m",
    "ruff",
    "check",
    "--quiet",
    "--isolated",
    "--target-version=py311",
    "--line-length=120",
    "--select=B,C4,E,F,I,N,PT,RET,RUF,SIM,UP,W",
    "--ignore=E402,F811,I001,N815",
    ".",
)


def test_ruff_accepts_the_programs(programs: Path) -> None:
    run_command(*RUFF, cwd=programs)


def test_ruff_accepts_the_agents_on_frameworks(tmp_path: Path) -> None:
    for name, text in framework_programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    run_command(*RUFF, cwd=tmp_path)
