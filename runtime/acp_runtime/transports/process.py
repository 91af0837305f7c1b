"""Runs an agent as a subprocess in its own process group, and ends it together with its descendants (rule 23)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from io import FileIO
from logging import WARNING, getLogger
from pathlib import Path
from subprocess import PIPE
from typing import cast

from acp_runtime.commands import explain_start_errors
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import log
from acp_runtime.options import Options
from acp_runtime.processes import start
from acp_runtime.shielded_waits import ShieldedWaits, can_await
from acp_runtime.transports.files import FileReader, FileWriter
from acp_runtime.transports.signals import interrupts_between_callbacks
from acp_runtime.transports.stderr import StderrCopy
from acp_runtime.transports.stdio import open_reader, open_writer

# Seconds to wait for the exit code and the end of stderr when a process has closed its stdout.
_EXIT_DEADLINE = 1.0
# Seconds to wait at the end for descendants to exit, and for the end of stderr.
_GRACE, _FLUSH_DEADLINE = 0.1, 0.5

_logger = getLogger(__name__)


class Process:
    """A subprocess and its pipes. It and its descendants are gone after its `async with` block.

    Args:
        command: the program.
        args: its arguments.
        cwd: its working folder; None for this process's.
        env: its environment.
        options: where its stderr goes, and the deadlines for its end.

    Raises:
        OSError: if the command can't be started, or the file for its stderr can't be opened; the message names it.

    Attributes:
        command: the program.
        pid: the id of the process and of its process group.
        stdin: writes to the subprocess.
        stdout: reads from the subprocess.
        closing: the waits while the connection and then the process end.
    """

    def __init__(
        self, command: str, args: tuple[str, ...], cwd: str | Path | None, env: dict[str, str], options: Options
    ) -> None:
        self.command: str = command
        self._options = options
        self._stderr = stderr = StderrCopy(options.stderr, options.stderr_tail)
        self._release = ExitStack()
        try:
            with explain_start_errors(command, cwd, env, role="the agent"):
                pipe = stderr.open()
            group = start(
                command,
                args,
                cwd,
                env,
                stdin=PIPE,
                stderr=pipe,
                role="the agent",
                on_exit=stderr.end,
            )
        except BaseException:
            stderr.close()
            raise
        self._group = group
        self.pid: int = group.pid
        stderr.start()
        self.stdin: FileWriter = open_writer(cast("FileIO", group.popen.stdin), shared=False)
        self.stdout: FileReader = open_reader(cast("FileIO", group.popen.stdout))
        stdout = self.stdout
        self.closing: ShieldedWaits = ShieldedWaits()
        # A descendant may keep stdout open forever, so reading ends with the output of the process itself.
        group.exited.add_done_callback(lambda _: stdout.end())

    async def __aenter__(self) -> Process:
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """End the process. If the event loop was left, for example by a second Ctrl-C, kill it."""
        try:
            if can_await(error):
                await self._close()
        finally:
            self._group.end_now()
            with suppress(RuntimeError):  # the event loop is closed
                self.stdout.close()
            self.stdin.abort()
            self._release.close()
        self.closing.raise_cancelled()

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal, 255 if it is unknown; None while the process runs."""
        return self._group.returncode

    def kill(self) -> None:
        """Kill the process and its descendants."""
        self._group.signal("SIGKILL")

    async def close_stdin(self) -> None:
        """Write the buffered bytes to its stdin, then close it."""
        await self.stdin.close()

    async def wait(self) -> int:
        """Wait until the process has exited. Return its exit code."""
        await asyncio.shield(self._group.exited)
        code = self._group.returncode
        return self._group.popen.wait() if code is None else code

    @property
    def stderr_tail(self) -> str:
        """The end of its stderr so far."""
        return self._stderr.tail

    async def why_closed(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Add the exit code and the end of stderr to the reason why the connection closed."""
        await asyncio.wait({self._group.exited}, timeout=_EXIT_DEADLINE)
        if self._group.exited.done():
            await self.closing.until(self._stderr.is_copied, _EXIT_DEADLINE)
        code = self.returncode if self._group.has_status else None
        return type(reason)(reason.reason, code, self._stderr.tail)

    def leave(self) -> None:
        """Begin to close: from now on, Ctrl-C is safe, and stdout is drained, so that the process can exit."""
        self._release.enter_context(interrupts_between_callbacks())
        self.stdout.keep_draining()

    async def _close(self) -> None:
        """Close stdin, wait, terminate and kill; then do the same to the descendants."""
        self.stdin.abort()
        self.stdout.keep_draining()
        await self.stdout.stop()
        await self._end("The agent (pid %s)", self._group.exited.done, self._options.exit_deadline)
        await self._end("A process that the agent (pid %s) left behind", self._group.is_gone, _GRACE)
        await self.closing.until(self._stderr.is_copied, _FLUSH_DEADLINE)

    async def _end(self, who: str, is_over: Callable[[], bool], deadline: float) -> None:
        if await self.closing.until(is_over, deadline):
            return
        log(_logger, WARNING, f"{who} is still running; sending SIGTERM to its process group.", self.pid)
        self._group.signal("SIGTERM")
        if await self.closing.until(is_over, self._options.terminate_deadline):
            return
        log(_logger, WARNING, f"{who} is still running after SIGTERM; killing it.", self.pid)
        self._group.signal("SIGKILL")
        await self.closing.until(is_over, self._options.terminate_deadline)
