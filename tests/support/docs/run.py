"""Runs a command that has to succeed, such as ruff with the rules for programs on pages."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

RULES = ["--select=B,C4,E,F,I,N,PT,RET,RUF,SIM,UP,W", "--ignore=E402,F811,I001,N815", "--line-length=120"]


def run(command: list[str], folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> None:
    """Run a command in a folder, with further environment variables."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
