"""The changes of tools/mutants/survivors.toml, which no test noticed once, are noticed now."""

from __future__ import annotations

import sys

import pytest

from tests.support.programs import run_command
from tools.paths import ROOT


@pytest.mark.slow
def test_each_change_that_survived_once_makes_its_tests_fail() -> None:
    run_command(sys.executable, "-m", "tools.mutants", "replay", cwd=ROOT)
