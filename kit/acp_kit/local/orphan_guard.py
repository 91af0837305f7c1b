"""Kills the process group of a command if this process is killed."""

from __future__ import annotations

import sys
from contextlib import suppress
from subprocess import DEVNULL, PIPE

from acp_runtime.processes import ProcessGroup, environment, start

# The second `read` returns when this process ends, however it ends, because the system closes its end of the pipe.
_SCRIPT = 'read -r group; read -r _; kill -s KILL -- "-$group"'


class OrphanGuard:
    """A shell that waits for the end of this process, and then kills a process group.

    Otherwise the group would outlive this process after SIGKILL. Create it before the group, so that the group is
    unguarded only for a moment. Does nothing if there is no `/bin/sh`, or on Windows, where a job does the same.
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
        """Stop guarding. Call it when the group has ended, because the system may use its id again."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        shell.end_now()
        for pipe in (shell.popen.stdin, shell.popen.stdout):
            if pipe is not None:
                pipe.close()
