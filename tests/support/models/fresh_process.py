"""Runs code in a new process, where no class has been used yet and nothing of ours is imported. Warnings are errors.

The process is a fork of one that has imported pydantic.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache

from tests.support.paths import ROOT


def run_code(code: str) -> str:
    """Run code and return its output. Fail with its traceback if it raises."""
    return _run("-c", code)


def run_module(module: str, *arguments: str) -> str:
    """Run a module as a program and return its output. Fail with its traceback if it raises."""
    return _run("-m", module, *arguments)


def _run(*arguments: str) -> str:
    template = _template()
    assert template.stdin
    assert template.stdout
    template.stdin.write(json.dumps(arguments) + "\n")
    template.stdin.flush()
    code, stdout, stderr = json.loads(template.stdout.readline())
    assert not code, stderr or f"The process ended with {code}."
    return str(stdout).strip()


@cache
def _template() -> subprocess.Popen[str]:
    """Start the process that is forked. It ends with this one."""
    command = [sys.executable, "-W", "error", "-m", "tests.support.models.template_process"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    atexit.register(process.communicate)
    return process
