"""Runs a command that has to succeed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


def run(command: list[str], folder: Path, settings: Mapping[str, str]) -> None:
    """Run a command in a folder, with further environment variables."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
