"""Runs git with an author, which commits need."""

from __future__ import annotations

import subprocess
from pathlib import Path

_AUTHOR = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, and return what it prints."""
    command = ["git", *_AUTHOR, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()
