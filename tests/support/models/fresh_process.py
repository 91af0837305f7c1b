"""Runs code in a new process, where no class has been used yet and nothing of ours is imported. Warnings are errors."""

from __future__ import annotations

import subprocess
import sys

from tests.support.forked import PYDANTIC, ran
from tests.support.paths import ROOT


def run_code(code: str) -> str:
    """Run code and return its output. Fail with its traceback if it raises."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    return _output(done.returncode, done.stdout, done.stderr)


def run_in_fork(code: str) -> str:
    """Run code in a fork of a process that has imported pydantic and built a class, which takes a fraction of the time.

    It is for tests of our own classes. What depends on the inside of pydantic needs a process that starts afresh.
    """
    if sys.platform == "win32":
        return run_code(code)
    PYDANTIC.start()
    exit_code, out, err = ran("-c", code, server=PYDANTIC)
    return _output(exit_code, out.decode(), err.decode())


def _output(exit_code: int | None, out: str, err: str) -> str:
    assert not exit_code, err or f"The process ended with {exit_code}."
    return out.strip()
