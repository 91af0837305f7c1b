"""Ends a subprocess together with its descendants, if necessary without an event loop.

A subprocess leads a session and a process group. Its descendants belong to its group, or to other groups of its session
(those that an interactive shell starts, for example). Sessions can be inspected only on Linux. Descendants that start a
session of their own are not ended.

A second Ctrl-C leaves the event loop at any point. Therefore each group is registered until none of its processes is
left, and is ended when this process exits, at the latest.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from acp_runtime.connection.forks import abandoned_in_children
from acp_runtime.transports.signals import deferred_interrupts

# Without an event loop: seconds to wait after SIGTERM, after SIGKILL, and between two checks.
_TERM_DEADLINE, _KILL_DEADLINE, _INTERVAL = 0.5, 2.0, 0.002


class ProcessGroup:
    """A subprocess and its descendants. On Windows, only the subprocess.

    Args:
        popen: the subprocess. Only this object may wait for it.
    """

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._is_gone = False
        _groups.add(self)
        abandoned_in_children(self)

    @property
    def pid(self) -> int:
        """The id of the subprocess, and of its group and session."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code of the subprocess, negative for a signal; None while it runs."""
        return self._popen.returncode

    def has_exited(self) -> bool:
        """Return whether the subprocess has exited, and reap it then. Its descendants may still run."""
        if self._popen.returncode is None and self._popen.poll() is not None:
            # Check now: once the group is empty, the system may reuse its id.
            self.is_gone()
        return self._popen.returncode is not None

    def is_gone(self) -> bool:
        """Return whether no process of the group is left."""
        if not self._is_gone and self._popen.poll() is not None and not _has_members(self.pid):
            self._forget()
        return self._is_gone

    def signal(self, name: str) -> None:
        """Send "SIGTERM" or "SIGKILL" to all processes of the group."""
        if self.is_gone():
            return
        if sys.platform != "win32":
            _signal_session(self.pid, getattr(signal, name))
        elif name == "SIGTERM":
            self._popen.terminate()
        else:
            self._popen.kill()

    def end_now(self) -> None:
        """End all processes of the group, with short deadlines and without an event loop."""
        _end_now({self})

    def abandon(self) -> None:
        """Forget the group in a forked child, so that the child doesn't end it."""
        self._forget()

    def _forget(self) -> None:
        self._is_gone = True
        _groups.discard(self)


_groups: set[ProcessGroup] = set()


def _end_all() -> None:
    """End all groups at exit. If a Ctrl-C interrupts it, start again, because nothing runs after it."""
    try:
        _end_now(set(_groups))
    except KeyboardInterrupt:
        _end_all()


atexit.register(_end_all)


def _end_now(groups: set[ProcessGroup]) -> None:
    with deferred_interrupts() as interrupts:
        _signal(groups, "SIGTERM")
        end = time.monotonic() + _TERM_DEADLINE
        while _any_left(groups) and time.monotonic() < end and not interrupts:
            time.sleep(_INTERVAL)
        _signal(groups, "SIGKILL")
        end = time.monotonic() + _KILL_DEADLINE
        while _any_left(groups) and time.monotonic() < end:
            time.sleep(_INTERVAL)


def _any_left(groups: set[ProcessGroup]) -> bool:
    return any(not group.is_gone() for group in groups)


def _signal(groups: set[ProcessGroup], name: str) -> None:
    for group in groups:
        group.signal(name)


def _signal_session(leader: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid, group in (_members(leader) or {}).items():
        if group != leader:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _has_members(leader: int) -> bool:
    if sys.platform == "win32":
        return False
    members = _members(leader)
    if members is not None:
        return bool(members)
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _members(leader: int) -> dict[int, int] | None:
    """Return the processes of a session and the group of each, or None if the system doesn't provide them.

    Zombies are not included: in a container without an init process, they are never reaped.
    """
    if sys.platform != "linux":
        return None
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
        if str(os.getpid()) not in names:
            return None
        for name in filter(str.isdigit, names):
            # The program's name is in parentheses and may contain any characters.
            state, _, group, session = _stat(name).rpartition(b")")[2].split()[:4] or (b"X", b"0", b"0", b"0")
            if int(session) == leader and state not in b"ZX":
                found[int(name)] = int(group)
    except OSError:
        return None
    return found


def _stat(pid: str) -> bytes:
    """Read the status of a process; empty if it has just ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""
