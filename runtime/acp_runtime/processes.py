"""Subprocesses in process groups of their own: their start, their exit, and their end.

The kit uses it as the connection does. asyncio's subprocesses are not used: their `wait` also waits for pipes that a
grandchild keeps open (CPython #119710), and their readers limit the length of lines.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import FileIO
from logging import WARNING, getLogger
from pathlib import Path
from threading import Thread
from typing import Any, cast
from weakref import finalize, ref

from acp_runtime.commands import explain_start_errors, find_program
from acp_runtime.forks import close_in_children
from acp_runtime.logs import log

_logger = getLogger(__name__)

# The exit code of a process whose status is unknown, as asyncio has it.
UNKNOWN_EXIT_CODE = 255
# Seconds to wait for the system to end a killed process.
_KILL_DEADLINE = 2.0


class ProcessGroup:
    """A subprocess and its descendants, except those that leave its group. On Windows, a job takes the group's place.

    They are killed when this process exits, or when nothing refers to this object any more, for example because the
    event loop was abandoned.

    Args:
        popen: the subprocess, which leads the group. Only this object may wait for it.
        on_exit: called in another thread when the subprocess has exited.

    Attributes:
        pid: the id of the subprocess, and of its group.
        exited: done when the subprocess itself has exited, whoever keeps its pipes open.
        has_status: whether it is known how the subprocess has exited. It isn't if this process ignores SIGCHLD, or if
            something else has waited for the subprocess.
    """

    def __init__(self, popen: subprocess.Popen[bytes], on_exit: Callable[[], object]) -> None:
        self.popen = popen
        self.pid: int = popen.pid
        self.has_status: bool = True
        self._code: int | None = None
        self._job: Any = None
        if sys.platform == "win32":
            from acp_runtime.windows_jobs import open_job

            self._job = open_job(popen.pid)
        self._end = finalize(self, _end, popen, self._job)
        _ignore_ctrl_c_at_exit()
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        close_in_children(self)
        Thread(target=_wait, args=(popen, ref(self), on_exit), name="acp-wait", daemon=True).start()

    @property
    def returncode(self) -> int | None:
        """The exit code of the subprocess, negative for a signal, 255 if it is unknown; None while it runs."""
        code: int | None = self.popen.returncode
        return code if self._code is None else self._code

    def is_gone(self) -> bool:
        """Return whether no process of the group is left."""
        if self._end.alive and self.popen.returncode is not None and not _has_members(self.pid, self._job):
            self._end.detach()  # from now on, the system may use the id for others
        return not self._end.alive

    def signal(self, name: str) -> None:
        """Send "SIGTERM" or "SIGKILL" to all processes of the group."""
        if not self.is_gone():
            _signal(self.popen, self._job, name)

    def end_now(self) -> None:
        """Kill all processes of the group. Needs no event loop."""
        self._end()

    def close_in_child(self) -> None:
        """Leave the processes to the parent of a forked child."""
        self._end.detach()
        self._set_code(None)
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._exited)

    def _set_code(self, code: int | None) -> None:
        self._code = UNKNOWN_EXIT_CODE if code is None else code
        self.has_status = code is not None

    def _exited(self) -> None:
        self.is_gone()
        if not self.exited.done():
            self.exited.set_result(None)

    def note_exit(self, code: int | None) -> None:
        """Set `exited`, from another thread. The exit code is None if it is unknown."""
        self._set_code(code)
        if code is None:
            reason = "SIGCHLD is ignored, or something else has waited for it"
            log(_logger, WARNING, "It is unknown how process %s has exited: %s", self.pid, reason)
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._exited)


@cache
def _ignore_ctrl_c_at_exit() -> None:
    """Let nothing interrupt the killing at the exit of this process. Call it when a `finalize` has been made."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # called before what was registered earlier


def _wait(popen: subprocess.Popen[bytes], owner: ref[ProcessGroup], on_exit: Callable[[], object]) -> None:
    code = _wait_for_code(popen)
    if (group := owner()) is not None:
        group.note_exit(code)
    del group
    on_exit()


def _wait_for_code(popen: subprocess.Popen[bytes]) -> int | None:
    """Wait until a process has exited. Return its exit code, negative for a signal; None if it is unknown.

    If something else waits for the process, `popen` may say 0, which means success.
    """
    code: int | None = None
    if sys.platform == "win32" or not hasattr(os, "waitid"):
        return popen.wait()
    with suppress(ChildProcessError):
        status = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        if status is not None:
            code = status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
    return popen.wait() or code


def _end(popen: subprocess.Popen[bytes], job: Any) -> None:
    _signal(popen, job, "SIGKILL")
    with suppress(subprocess.TimeoutExpired):
        popen.wait(_KILL_DEADLINE)


def _signal(popen: subprocess.Popen[bytes], job: Any, name: str) -> None:
    """Send a signal to a process group. Windows has none: any signal ends the processes at once."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, getattr(signal, name))
    elif job is not None:
        job.terminate()
    else:
        popen.kill()


def _has_members(group: int, job: Any) -> bool:
    """Return whether processes of a group run. A zombie doesn't; in some containers nobody ever reaps it."""
    if sys.platform == "win32":
        return job is not None and bool(job.has_members())
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    if sys.platform != "linux":
        return True
    pids = _listed_processes()
    # Without /proc, or with the one of other processes, zombies can't be told apart.
    return str(os.getpid()) not in pids or any(_runs_in(group, pid) for pid in pids)


def _listed_processes() -> list[str]:
    with suppress(OSError):
        # Not `Path.glob`, which raises if a process ends meanwhile.
        return [name for name in os.listdir("/proc") if name.isdigit()]
    return []


def _runs_in(group: int, pid: str) -> bool:
    with suppress(OSError):
        # The program's name is in parentheses and may contain any characters.
        state, _, leader = Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()[:3]
        return int(leader) == group and state not in b"ZX"
    return False  # it has just ended


def start(
    command: str,
    args: tuple[str, ...],
    cwd: str | Path | None,
    env: dict[str, str],
    *,
    stdin: int,
    stderr: int | FileIO,
    role: str = "",
    on_exit: Callable[[], object] = lambda: None,
) -> ProcessGroup:
    """Start a subprocess in a process group of its own, with a pipe for its stdout.

    Args:
        command: the program. A relative path is looked up in `cwd`.
        args: its arguments.
        cwd: its working folder; None for this process's.
        env: its environment.
        stdin: a descriptor, or a constant of `subprocess`. Pipes are unbuffered.
        stderr: the same, or a file.
        role: what the command is, such as "the agent"; empty if messages need not say it.
        on_exit: called in another thread when the process has exited.

    Raises:
        OSError: if it can't be started; the message names the command and the reason.
        TypeError: if the command is a list.
        RuntimeError: if no event loop runs here.
    """
    asyncio.get_running_loop()  # raises before a process is started that nothing would wait for
    if isinstance(cast("object", command), (list, tuple)):
        raise TypeError("The command must be text, not a list. Pass it and each of its arguments separately.")
    with explain_start_errors(command, cwd, env, role=role):
        program = find_program(command, args, env)
        popen = subprocess.Popen(
            [program, *args],
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            creationflags=0x200 if sys.platform == "win32" else 0,  # CREATE_NEW_PROCESS_GROUP
        )
    return ProcessGroup(popen, on_exit)
