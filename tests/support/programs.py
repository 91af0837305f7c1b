"""Programs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.runtime.peer import line
from tools.paths import ROOT


class Program(subprocess.Popen[bytes]):
    """A running Python program. Its streams are pipes by default.

    Args:
        arguments: the arguments of Python: `-m` and a module or `-c` and code, then the arguments of the program.
        env: variables to add to the environment.
        options: those of `subprocess.Popen`.
    """

    stdin: Any
    stdout: Any
    stderr: Any

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        defaults: dict[str, Any] = {"cwd": ROOT, "env": _environment(env or {}), **pipes}
        super().__init__([sys.executable, *arguments], **defaults | options)

    def send(self, *messages: Any) -> None:
        """Write messages to stdin: bytes unchanged, anything else as a line of JSON-RPC."""
        self.stdin.write(b"".join(message if isinstance(message, bytes) else line(message) for message in messages))
        self.stdin.flush()

    def receive(self) -> Any:
        """Return the next message on stdout."""
        return json.loads(self.stdout.readline())

    def call(self, method: str, params: Any) -> Any:
        """Send a request, and return its response. Messages that come before it are dropped."""
        self.send({"id": 1, "method": method, "params": params})
        while (message := self.receive()).get("id") != 1:
            pass
        return message


def run_program(
    *arguments: str, input: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> tuple[int, bytes, bytes]:
    """Run a Python program to its end, and return its exit code, its stdout and its stderr."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=_environment(env or {}), input=input, capture_output=True, timeout=100, check=False
    )
    return done.returncode, done.stdout, done.stderr


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our variables and others, but let text on stdout stay in Python's buffer."""
    return {name: value for name, value in {**os.environ, **variables}.items() if name != "PYTHONUNBUFFERED"}


def output_of(code: str) -> str:
    """Run Python code in which warnings are errors and which must succeed, and return its stdout."""
    exit_code, out, err = run_program("-W", "error", "-c", code)
    assert exit_code == 0, err.decode() or f"The process ended with {exit_code}."
    return out.decode().strip()


def run_command(*command: str, cwd: Path | None = None, input: str | None = None, **variables: str) -> str:
    """Run a command that must succeed, with further environment variables, and return its stdout."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        input=input,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
