"""mypy and pyright check what only Windows runs, as nothing else does on other systems. `make lint` runs this file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.paths import ROOT

FILES = [f"runtime/acp_runtime/{name}.py" for name in ("processes", "windows_jobs", "transports/stdio")]
CHECKERS = {
    "mypy": ["mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32"],
    "pyright": ["pyright", "--pythonplatform", "Windows"],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_windows_runs_is_clean(checker: str) -> None:
    command = [sys.executable, "-m", *CHECKERS[checker], *FILES]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=250)
    assert run.returncode == 0, run.stdout
