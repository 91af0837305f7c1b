"""Detects that a subprocess has exited, without waiting for its pipes, which a grandchild may keep open."""

from __future__ import annotations

import asyncio
import os
import sys

from acp_runtime.connection.forks import abandoned_in_children
from acp_runtime.transports.process_group import ProcessGroup

# Seconds between two polls.
_SLOW, _FAST = 0.1, 0.005


class ExitWatch:
    """Waits for the exit of a subprocess: on Linux by a descriptor that becomes readable, elsewhere by polling.

    Args:
        group: the process group of the subprocess.

    Attributes:
        exited: done when the subprocess has exited.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._loop = asyncio.get_running_loop()
        self._group = group
        self._interval = _SLOW
        self._timer: asyncio.TimerHandle | None = None
        self._fd = _descriptor_of(group.pid)
        self.exited: asyncio.Future[None] = self._loop.create_future()
        abandoned_in_children(self)
        if self._fd is None or not self._is_watched(self._fd):
            self._poll()

    def poll_faster(self) -> None:
        """Shorten the polling interval. Has no effect where a descriptor is used."""
        self._interval = _FAST
        if self._timer is not None:
            self._timer.cancel()
            self._poll()

    def close(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            self.abandon()

    def abandon(self) -> None:
        """Close a forked child's copy of the descriptor."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _is_watched(self, fd: int) -> bool:
        try:
            self._loop.add_reader(fd, self._poll)
        except (OSError, NotImplementedError):
            self.abandon()
        return self._fd is not None

    def _poll(self) -> None:
        if self._group.has_exited():
            self.close()
            if not self.exited.done():
                self.exited.set_result(None)
        elif self._fd is None:
            self._timer = self._loop.call_later(self._interval, self._poll)


def _descriptor_of(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process exits, or None if the system offers none."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    # An old kernel, a sandbox, no free descriptors, or a Python that was built for an older system.
    except (OSError, AttributeError):
        return None
