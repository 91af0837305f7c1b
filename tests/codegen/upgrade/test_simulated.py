"""After an upgrade, the tests pass without a change to a test, whatever upstream has changed.

Each test upgrades a copy of the repository to schemas with changes that upstream may make one day, and runs the copy's
own tests: the fast ones for each change, and all that can be affected for all changes at once. Only in `make stress`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.codegen.simulated import ALL, CHANGES, run, upgrade
from tests.support.scale import STRESS

pytestmark = [pytest.mark.test_all, pytest.mark.stress, pytest.mark.slow, pytest.mark.timeout(7200)]

QUICK = ["tests/runtime", "tests/generated", "tests/codegen"]
FULL = [*QUICK, "tests/kit", "tests/docs", "tests/workflows", "tests/test_layers.py", "tests/test_pages.py"]


def check(copy: Path, *tests: str) -> None:
    """Run tests of a copy, without this file."""
    run(copy, "pytest", "-q", "--ignore", "tests/codegen/upgrade/test_simulated.py", *tests)


if STRESS:

    @pytest.mark.parametrize("row", CHANGES)
    def test_the_fast_tests_pass_after_a_change(row: str, tmp_path: Path) -> None:
        check(upgrade(row, tmp_path), "-n", "2", "--dist", "loadgroup", "-m", "not slow", *QUICK)

    def test_all_tests_pass_after_all_changes_at_once(tmp_path: Path) -> None:
        copy = upgrade(ALL, tmp_path)
        run(copy, "codegen", "compatibility")
        check(copy, "-n", "2", "--dist", "loadgroup", *FULL)
