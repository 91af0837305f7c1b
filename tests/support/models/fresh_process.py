"""Runs code in a new process, where no class has been used yet and nothing of ours is imported. Warnings are errors."""

from __future__ import annotations

import subprocess
import sys

from tests.support.paths import ROOT


def run_code(code: str) -> str:
    """Run code and return its output. Fail with its traceback if it raises."""
    return _run("-c", code)


def run_module(module: str, *arguments: str) -> str:
    """Run a module as a program and return its output. Fail with its traceback if it raises."""
    return _run("-m", module, *arguments)


def _run(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert not done.returncode, done.stderr or f"The process ended with {done.returncode}."
    return done.stdout.strip()
