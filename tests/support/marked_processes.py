"""Finds processes by a variable in their environment, even after their parent has exited."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def marked() -> Iterator[str]:
    """Yield a unique variable name. Processes with this variable in their environment are killed after the block."""
    marker = f"ACP_MARK_{uuid.uuid4().hex}"
    try:
        yield marker
    finally:
        for pid in alive(marker):
            os.kill(pid, signal.SIGKILL)


def alive(marker: str) -> set[int]:
    """Return the running processes that have a marker in their environment."""
    return {int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _is_marked(folder, marker)}


def wait_until_left(marker: str, expected: Set[int] = frozenset(), seconds: float = 20) -> set[int]:
    """Wait until only the expected processes are left, and return those that are left at the end."""
    end = time.monotonic() + seconds
    while (left := alive(marker)) != expected and time.monotonic() < end:
        os.sched_yield()
    return left


def _is_marked(folder: Path, marker: str) -> bool:
    try:
        state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
        return state != b"Z" and marker.encode() in (folder / "environ").read_bytes()
    except OSError:
        return False
