"""Noticing that a subprocess has exited, without waiting for its pipes, which a grandchild may hold."""

from __future__ import annotations

import asyncio
import os
import sys

from acp_runtime.connection.forks import abandoned_in_children
from acp_runtime.transports.process_group import ProcessGroup

_SLOW, _FAST = 0.1, 0.005


class ExitWatch:
    """Tells when a subprocess has exited: the system says so on Linux; elsewhere it is looked now and then.

    Args:
        group: the subprocess and its group.

    Attributes:
        exited: done when the subprocess has exited.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._loop = asyncio.get_running_loop()
        self._group = group
        self._pause = _SLOW
        self._timer: asyncio.TimerHandle | None = None
        self._fd = _descriptor_of(group.pid)
        self.exited: asyncio.Future[None] = self._loop.create_future()
        abandoned_in_children(self)
        if self._fd is None or not self._is_watched(self._fd):
            self._look()

    def poll_faster(self) -> None:
        """Look more often, if it has to be looked."""
        self._pause = _FAST
        if self._timer is not None:
            self._timer.cancel()
            self._look()

    def close(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            self.abandon()

    def abandon(self) -> None:
        """Close the copy that a forked child has of the descriptor."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _is_watched(self, fd: int) -> bool:
        try:
            self._loop.add_reader(fd, self._look)
        except (OSError, NotImplementedError):
            self.abandon()
        return self._fd is not None

    def _look(self) -> None:
        if self._group.has_exited():
            self.close()
            if not self.exited.done():
                self.exited.set_result(None)
        elif self._fd is None:
            self._timer = self._loop.call_later(self._pause, self._look)


def _descriptor_of(pid: int) -> int | None:
    """A descriptor that becomes readable when a process exits, None where there is no such thing."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    # Refused by an old system or a sandbox, out of descriptors, or a Python built for an older system.
    except (OSError, AttributeError):
        return None
