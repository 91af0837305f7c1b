"""Processes that are found by a variable in their environment, whoever their parent is now."""

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
    """A name for a variable. Whatever has it in its environment is killed in the end."""
    marker = f"ACP_MARK_{uuid.uuid4().hex}"
    try:
        yield marker
    finally:
        for pid in alive(marker):
            os.kill(pid, signal.SIGKILL)


def alive(marker: str) -> set[int]:
    """The processes that have a marker in their environment and have not ended."""
    return {int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _is_marked(folder, marker)}


def wait_until_left(marker: str, expected: Set[int] = frozenset(), seconds: float = 20) -> set[int]:
    """Wait until no other than the expected processes are left. Those that are left in the end."""
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
