"""Agents behind a tap, as real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from textwrap import dedent

SECONDS = 60
ECHO = "while data := os.read(0, 65536): os.write(1, data)"


def tap_command(file: Path, *agent: str) -> list[str]:
    """Return the command that an editor starts instead of an agent."""
    return [sys.executable, "-m", "acp_kit", "tap", "--to", str(file), "--", *agent]


def python(program: str) -> list[str]:
    """Return the command that runs an agent, with `sys`, `os` and its binary stdin and stdout."""
    prologue = "import os, sys\nstdin, stdout = sys.stdin.buffer, sys.stdout.buffer\n"
    return [sys.executable, "-c", prologue + dedent(program)]


def start(file: Path, program: str) -> subprocess.Popen[bytes]:
    """Start a tap and, behind it, an agent."""
    return subprocess.Popen(tap_command(file, *python(program)), stdin=PIPE, stdout=PIPE, stderr=PIPE)


def run(file: Path, program: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run an agent behind a tap. Its stdin ends behind the data."""
    command = tap_command(file, *python(program))
    return subprocess.run(command, input=data, capture_output=True, check=False, timeout=SECONDS)
