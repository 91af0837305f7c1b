"""A subprocess and what it has started, ended as a whole, in the worst case without an event loop.

A subprocess leads a session and a process group. What it starts belongs to its group, or to another one of its session
(what an interactive shell starts, for one). Sessions are seen on Linux alone. What starts a session of its own is left.

Ctrl-C pressed again leaves the event loop at once, wherever it is. So each group is known until nothing of it is left,
and ended when this process exits, at the latest.
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

# How long a process may take to end after SIGTERM, and after SIGKILL, while nothing else can run.
_LAST_GRACE, _LAST_WAIT, _PAUSE = 0.5, 2.0, 0.002


class ProcessGroup:
    """A subprocess and what it has started. On Windows, the subprocess alone.

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
        """Whether the subprocess has exited. It is reaped then; what it has started may still run."""
        if self._popen.returncode is None and self._popen.poll() is not None:
            # Now or never: once nothing is left of the group, its number may be another's.
            self.is_gone()
        return self._popen.returncode is not None

    def is_gone(self) -> bool:
        """Whether nothing is left of the group."""
        if not self._is_gone and self._popen.poll() is not None and not _has_members(self.pid):
            self._forget()
        return self._is_gone

    def signal(self, name: str) -> None:
        """Send a signal to all of the group: "SIGTERM" or "SIGKILL"."""
        if self.is_gone():
            return
        if sys.platform != "win32":
            _signal_session(self.pid, getattr(signal, name))
        elif name == "SIGTERM":
            self._popen.terminate()
        else:
            self._popen.kill()

    def end_now(self) -> None:
        """End what is left of the group, with little patience, and without an event loop."""
        _end_now({self})

    def abandon(self) -> None:
        """Leave the group alone in a forked child."""
        self._forget()

    def _forget(self) -> None:
        self._is_gone = True
        _groups.discard(self)


_groups: set[ProcessGroup] = set()


def _end_all() -> None:
    """Nothing comes after this, so a Ctrl-C that can't be put off any more begins it again."""
    try:
        _end_now(set(_groups))
    except KeyboardInterrupt:
        _end_all()


atexit.register(_end_all)


def _end_now(groups: set[ProcessGroup]) -> None:
    with deferred_interrupts() as interrupts:
        _signal(groups, "SIGTERM")
        end = time.monotonic() + _LAST_GRACE
        while _left(groups) and time.monotonic() < end and not interrupts:
            time.sleep(_PAUSE)
        _signal(groups, "SIGKILL")
        end = time.monotonic() + _LAST_WAIT
        while _left(groups) and time.monotonic() < end:
            time.sleep(_PAUSE)


def _left(groups: set[ProcessGroup]) -> bool:
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
    """The processes in the session of a process, with their groups; None where that can't be told.

    Zombies don't count: in a container without an init, nobody waits for them.
    """
    if sys.platform != "linux":
        return None
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
        if str(os.getpid()) not in names:
            return None
        for name in filter(str.isdigit, names):
            # The name of the program stands in brackets, and may hold anything.
            state, _, group, session = _stat(name).rpartition(b")")[2].split()[:4] or (b"X", b"0", b"0", b"0")
            if int(session) == leader and state not in b"ZX":
                found[int(name)] = int(group)
    except OSError:
        return None
    return found


def _stat(pid: str) -> bytes:
    """What the system says of a process; nothing if it has just ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""
