"""An agent as a subprocess: started in a group of its own, always read, and gone with all it started (rule 23).

Owns the process, its pipes and the tail of its stderr. The pipes are made here rather than by asyncio, whose `wait`
also waits for pipes that a grandchild holds (CPython #119710), and whose readers have a limit of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from acp_runtime.errors import ConnectionClosed
from acp_runtime.exits import exited
from acp_runtime.options import Options
from acp_runtime.stderr import Stderr
from acp_runtime.stdio import open_reader, open_writer
from acp_runtime.streams import ByteSource, ByteWriter
from acp_runtime.tasks import finish

# What a program needs to run and to find its user's files. Nothing that is likely to be a secret.
SAFE_ENVIRONMENT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR"),
)

# How long to wait for what a process that closed its stdout still has to say: its exit code and its last words.
_LAST_WORDS = 1.0
_POLL_FIRST, _POLL_LAST = 0.001, 0.05


class Process:
    """A running subprocess and its pipes.

    Attributes:
        stdin: where the subprocess reads.
        stdout: where it writes.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        stdin: int,
        stdout: int,
        stderr: int | None,
        sink: Stderr,
        options: Options,
    ) -> None:
        self._popen = popen
        self._options = options
        self._reader = open_reader(stdout)
        self.stdout: ByteSource = self._reader
        self.stdin: ByteWriter = open_writer(stdin, shared=False)
        self._stderr = sink
        self._stderr_source = None if stderr is None else open_reader(stderr)
        if self._stderr_source is not None:
            self._stderr_source.start(self._stderr)
        self._watch = asyncio.create_task(self._end_stdout_with_it())

    @classmethod
    @asynccontextmanager
    async def started(
        cls,
        command: str,
        args: tuple[str, ...],
        *,
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        options: Options,
    ) -> AsyncGenerator[Process]:
        """A process while the block lasts; it and all it started are gone afterwards.

        Raises:
            OSError: if the command can't start, or the file for its stderr can't be opened; names it.
        """
        with Stderr(options) as sink:
            process = cls(*_popen(command, args, cwd, environment(env), options.stderr != "inherit"), sink, options)
            try:
                yield process
            finally:
                await finish(process._end())

    async def why_closed(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Add the exit code and the end of stderr to the reason why a connection ended."""
        await self._exited(_LAST_WORDS)
        if self._stderr_source is not None:
            deadline = _LAST_WORDS if self._popen.returncode is not None else 0
            await asyncio.wait({self._stderr.over}, timeout=deadline)
        return type(reason)(reason.reason, self._popen.returncode, self._stderr.tail.decode("utf-8", "replace"))

    async def _end_stdout_with_it(self) -> None:
        """Notice the end of the process also when something that it has started holds its pipes."""
        await exited(self._popen)
        self._reader.end()

    async def _end(self) -> None:
        """Close stdin, wait, terminate, kill; then the same to what the process left behind."""
        self.stdin.abort()
        self._watch.cancel()
        await asyncio.wait({self._watch})
        if not await self._exited(self._options.exit_deadline):
            self._signal("SIGTERM")
            if not await self._exited(self._options.terminate_deadline):
                self._signal("SIGKILL")
                await self._exited(self._options.terminate_deadline)
        if self._has_left_something():
            self._signal("SIGTERM")
            await _until(lambda: not self._has_left_something(), self._options.terminate_deadline)
            self._signal("SIGKILL")
        self._reader.close()
        if self._stderr_source is not None:
            await asyncio.wait({self._stderr.over}, timeout=0.1)
            self._stderr_source.close()

    async def _exited(self, deadline: float) -> bool:
        return await _until(lambda: self._popen.poll() is not None, deadline)

    def _signal(self, name: str) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32":
                os.killpg(self._popen.pid, getattr(signal, name))
            elif name == "SIGTERM":
                self._popen.terminate()
            else:
                self._popen.kill()

    def _has_left_something(self) -> bool:
        """Whether there are processes left in the group. While there are, its number isn't used again."""
        if sys.platform == "win32":
            return False
        try:
            os.killpg(self._popen.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a subprocess: the safe part of this one's, `LC_*`, and what is added."""
    safe = {name: value for name, value in os.environ.items() if name in SAFE_ENVIRONMENT or name.startswith("LC_")}
    return {**safe, **(extra or {})}


def _popen(
    command: str, args: tuple[str, ...], cwd: str | Path | None, env: dict[str, str], capture: bool
) -> tuple[subprocess.Popen[bytes], int, int, int | None]:
    """Start a process. Gives it, and this side's ends of its stdin, stdout and (if captured) stderr."""
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    ours_err, theirs_err = os.pipe() if capture else (None, None)
    program = command if sys.platform != "win32" else shutil.which(command, path=env.get("PATH")) or command
    new_group = 0x200 if sys.platform == "win32" else 0  # CREATE_NEW_PROCESS_GROUP
    try:
        popen: subprocess.Popen[bytes] = subprocess.Popen(
            [program, *args],
            stdin=theirs_in,
            stdout=theirs_out,
            stderr=theirs_err,
            cwd=cwd,
            env=env,
            start_new_session=True,
            creationflags=new_group,
        )
    except OSError as error:
        _close(ours_in, ours_out, ours_err)
        raise type(error)(
            error.errno, f"Can't start the agent {command!r}: {error.strerror}", error.filename
        ) from error
    except BaseException:
        _close(ours_in, ours_out, ours_err)
        raise
    finally:
        _close(theirs_in, theirs_out, theirs_err)
    return popen, ours_in, ours_out, ours_err


def _close(*fds: int | None) -> None:
    for fd in fds:
        if fd is not None:
            os.close(fd)


async def _until(condition: Callable[[], bool], deadline: float) -> bool:
    """Look until a condition holds, more and more slowly, for at most `deadline` seconds. Whether it holds."""
    loop = asyncio.get_running_loop()
    end, pause = loop.time() + deadline, _POLL_FIRST
    while not condition():
        if loop.time() >= end:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _POLL_LAST)
    return True
