"""Runs code in a new process, where no class has been used yet and nothing of ours is imported. Warnings are errors.

The process is a fork of one that has imported pydantic, except on Windows.
"""

from __future__ import annotations

import subprocess
import sys

from tests.support.forked import PYDANTIC, ran
from tests.support.paths import ROOT


def run_code(code: str) -> str:
    """Run code and return its output. Fail with its traceback if it raises."""
    return _run("-c", code)


def run_module(module: str, *arguments: str) -> str:
    """Run a module as a program and return its output. Fail with its traceback if it raises."""
    return _run("-m", module, *arguments)


def _run(*arguments: str) -> str:
    if sys.platform == "win32":
        command = [sys.executable, "-W", "error", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=100, check=False)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        PYDANTIC.start()
        code, out, err = ran(*arguments, server=PYDANTIC)
    assert not code, err.decode() or f"The process ended with {code}."
    return out.decode().strip()
