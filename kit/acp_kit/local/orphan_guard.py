"""Kills a process or a process group if this process is killed. It doesn't import the runtime."""

from __future__ import annotations

import sys
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen

# The second `read` returns when this process ends, however it ends, because the system closes its end of the pipe.
_SCRIPT = 'read -r target; read -r _; kill -s KILL -- "$target"'


class OrphanGuard:
    """A shell that waits for the end of this process, and then kills a process or a process group.

    Otherwise they would outlive this process after SIGKILL. Create it before them, so that they are unguarded only for
    a moment. Does nothing if there is no `/bin/sh`, or on Windows, where a job does the same.
    """

    def __init__(self) -> None:
        self._shell: Popen[bytes] | None = None
        if sys.platform != "win32":
            with suppress(OSError):
                self._shell = Popen(
                    ["/bin/sh", "-c", _SCRIPT],
                    bufsize=0,
                    cwd="/",
                    env={},
                    stdin=PIPE,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    start_new_session=True,
                )

    def guard(self, group: int) -> None:
        """Guard a process group from now on."""
        self._guard(-group)

    def guard_process(self, pid: int) -> None:
        """Guard one process from now on."""
        self._guard(pid)

    def close(self) -> None:
        """Stop guarding. Call it when the process or the group has ended, because the system may use its id again."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        shell.kill()
        shell.wait()
        if shell.stdin is not None:
            shell.stdin.close()

    def _guard(self, target: int) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            with suppress(OSError):
                self._shell.stdin.write(f"{target}\n".encode())
