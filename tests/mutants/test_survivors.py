"""The changes of tools/mutants/survivors.toml, which no test noticed once, are noticed now."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.paths import ROOT


@pytest.mark.slow
def test_each_change_that_survived_once_makes_its_tests_fail() -> None:
    command = [sys.executable, "-m", "tools.mutants", "replay"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
