"""Runs code in a new Python process, where no class has been used yet. Warnings are errors there."""

from __future__ import annotations

import subprocess
import sys

from tests.support.paths import ROOT


def run_code(code: str, *, warnings: str = "error") -> str:
    """Run code and return its output. Fail with its traceback if it raises."""
    return _run("-W", warnings, "-c", code)


def run_module(module: str, *arguments: str) -> str:
    """Run a module as a program and return its output. Fail with its traceback if it raises."""
    return _run("-W", "error", "-m", module, *arguments)


def _run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=100)
    assert not done.returncode, done.stderr
    return done.stdout.strip()
