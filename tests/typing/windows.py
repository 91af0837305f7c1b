"""mypy and pyright check what only Windows runs, as nothing else does on other systems. `make lint` runs this file."""

from __future__ import annotations

import sys

import pytest

from tests.support.programs import run_command
from tools.paths import ROOT

FILES = [f"runtime/acp_runtime/{name}.py" for name in ("processes", "windows_jobs", "transports/stdio")]
CHECKERS = {
    "mypy": ["mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32"],
    "pyright": ["pyright", "--pythonplatform", "Windows"],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_windows_runs_is_clean(checker: str) -> None:
    run_command(sys.executable, "-m", *CHECKERS[checker], *FILES, cwd=ROOT)
