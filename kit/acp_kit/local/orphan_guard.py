"""Kills the process group of a command if this process is killed and can't do it."""

from __future__ import annotations

import sys
from contextlib import suppress
from subprocess import DEVNULL, PIPE

from acp_runtime.processes import ProcessGroup, environment, start

# The system closes the other end of stdin when this process ends, however it ends.
_SCRIPT = 'read -r group; read -r _; kill -s KILL -- "-$group"'


class OrphanGuard:
    """A shell that waits for the end of this process, and then kills a process group.

    Without it, the group would outlive this process after a SIGKILL. Make it before the group, so that the group is
    unguarded for a moment only. Does nothing where there is no `/bin/sh`, or on Windows, where a job does the same.
    """

    def __init__(self) -> None:
        self._shell: ProcessGroup | None = None
        if sys.platform != "win32":
            with suppress(OSError):
                self._shell = start("/bin/sh", ("-c", _SCRIPT), "/", environment(None, False), PIPE, DEVNULL)

    def guard(self, group: int) -> None:
        """Guard a process group from now on."""
        if self._shell is not None and self._shell.popen.stdin is not None:
            with suppress(OSError):
                self._shell.popen.stdin.write(f"{group}\n".encode())

    def close(self) -> None:
        """Stop guarding. Call it when the group has gone, because the system may use its id for others then."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        shell.end_now()
        for pipe in (shell.popen.stdin, shell.popen.stdout):
            if pipe is not None:
                pipe.close()
