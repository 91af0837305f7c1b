"""Finds processes by a variable in their environment, even after their parent has exited, and children of this one."""

from __future__ import annotations

import os
import select
import signal
import time
import uuid
from collections.abc import Iterator, Set
from contextlib import ExitStack, contextmanager, suppress
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


@contextmanager
def no_new_children() -> Iterator[None]:
    """Fail if the block leaves a child process running, or one that has ended and was not waited for.

    Processes that tests share, such as a server, may go on running.
    """
    before = _children()
    try:
        yield
    finally:
        left = _children() - before
        assert not left, f"Child processes are left: {left}"


def _children() -> set[int]:
    return {int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _parent(folder) == os.getpid()}


def wait_until_left(marker: str, expected: Set[int] = frozenset()) -> set[int]:
    """Wait until only the expected processes are left, at most 20 seconds, and return the ones that are left."""
    end = time.monotonic() + 20
    while (left := alive(marker)) != expected and (seconds := end - time.monotonic()) > 0:
        _wait_for_an_end(left - expected, seconds)
    return left


def _wait_for_an_end(pids: Set[int], seconds: float) -> None:
    """Wait until one of the processes ends."""
    with ExitStack() as stack:
        descriptors: list[int] = []
        for pid in pids:
            with suppress(ProcessLookupError):
                descriptors.append(os.pidfd_open(pid))
                stack.callback(os.close, descriptors[-1])
        if len(descriptors) == len(pids):
            select.select(descriptors, [], [], seconds)


def _parent(folder: Path) -> int | None:
    try:
        return int(_stat(folder)[1])
    except OSError:
        return None


def _stat(folder: Path) -> list[bytes]:
    """Return the fields of a process's `stat` file after its name: its state, its parent, and more."""
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()


def _is_marked(folder: Path, marker: str) -> bool:
    try:
        return _stat(folder)[0] != b"Z" and marker.encode() in (folder / "environ").read_bytes()
    except OSError:
        return False
