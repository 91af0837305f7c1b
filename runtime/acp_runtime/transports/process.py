"""Runs an agent as a subprocess in its own process group, and ends it together with its descendants (rule 23)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager
from logging import WARNING, getLogger
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from acp_runtime.connection.shielded_waits import ShieldedWaits
from acp_runtime.connection.transport import ByteWriter, Receiver
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import log
from acp_runtime.options import Options
from acp_runtime.transports.environment import environment
from acp_runtime.transports.exit_watch import ExitWatch
from acp_runtime.transports.interrupts import SafeInterrupts
from acp_runtime.transports.launching import Launched, launch
from acp_runtime.transports.signals import deferred_interrupts
from acp_runtime.transports.stderr import StderrReceiver
from acp_runtime.transports.stdio import open_reader, open_writer

if TYPE_CHECKING:
    from acp_runtime.transports.stdio import Reader

# Seconds to wait for the exit code and the end of stderr when a process has closed its stdout.
_EXIT_DEADLINE = 1.0
# Seconds to wait at the end for the reader of the forwarded stderr.
_FLUSH_DEADLINE = 0.5
# Seconds to wait at the end for descendants to exit, and for the end of stderr.
_GRACE = 0.1

_logger = getLogger(__name__)


@asynccontextmanager
async def running_process(
    command: str,
    args: tuple[str, ...],
    *,
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    options: Options,
) -> AsyncGenerator[Process]:
    """Run a process during the `async with` block. It and its descendants are gone afterwards.

    Raises:
        OSError: if the command can't be started, or the file for its stderr can't be opened; the message names it.
    """
    with SafeInterrupts(), ExitStack() as release:
        with deferred_interrupts():
            stderr = StderrReceiver(options)
            release.callback(stderr.close)
            launched = launch(command, args, cwd, environment(env, options.inherit_env))
            release.callback(launched.group.end_now)
            process = Process(launched, stderr, options, release)
        can_wait = True
        try:
            yield process
        except GeneratorExit:
            # The event loop was left, for example by a second Ctrl-C. `release` ends the process without it.
            can_wait = False
            raise
        finally:
            if can_wait:
                await process.end()


class Process:
    """A running subprocess and its pipes.

    Args:
        launched: the subprocess and the descriptors of its pipes, which this object owns.
        stderr: the receiver of its stderr.
        options: the deadlines for its end.
        release: collects the callbacks that close the descriptors.

    Attributes:
        stdin: writes to the subprocess.
        stdout: reads from the subprocess.
        closing: the waits while the connection and then the process end.
    """

    def __init__(self, launched: Launched, stderr: StderrReceiver, options: Options, release: ExitStack) -> None:
        self._options = options
        self._group = launched.group
        self._stderr = stderr
        reader = self._reader = open_reader(launched.stdout, shared=False)
        release.callback(reader.close)
        stderr_reader = self._stderr_reader = open_reader(launched.stderr, shared=False)
        release.callback(stderr_reader.close)
        writer = open_writer(launched.stdin, shared=False)
        release.callback(writer.abort)
        self.stdin: ByteWriter = writer
        self.stdout: _Stdout = _Stdout(reader)
        self.closing: ShieldedWaits = ShieldedWaits()
        self._exit = ExitWatch(launched.group)
        release.callback(self._exit.close)
        # A descendant may keep stdout open forever, so reading ends with the output of the process itself.
        self._exit.exited.add_done_callback(lambda _: reader.end())
        stderr.start(stderr_reader)
        finalize(self, launched.group.end_now).atexit = False

    @property
    def pid(self) -> int:
        """The id of the process and of its process group."""
        return self._group.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._group.returncode

    @property
    def stderr(self) -> str:
        """The end of its stderr, at most `Options.stderr_tail` bytes."""
        return self._stderr.tail

    @property
    def where_to_look(self) -> str:
        """A sentence that says where to find its stderr."""
        return self._stderr.where_to_look

    async def why_closed(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Add the exit code and the end of stderr to the reason why the connection closed."""
        self._exit.poll_faster()
        await asyncio.wait({self._exit.exited}, timeout=_EXIT_DEADLINE)
        if not self._stderr_reader.read_now() and self._exit.exited.done():
            await asyncio.wait({self._stderr.finished}, timeout=_EXIT_DEADLINE)
        return type(reason)(reason.reason, self.returncode, self.stderr)

    def keep_draining(self) -> None:
        """Keep reading stdout after the connection has stopped, so that the process is not blocked by a full pipe."""
        self.stdout.keep_draining()

    async def end(self) -> None:
        """Close stdin, wait, terminate and kill; then do the same to the descendants."""
        self.stdin.abort()
        self._reader.discard()
        self._exit.poll_faster()
        await self._end_process()
        await self._end_descendants()
        if not self._stderr_reader.read_now():
            await self.closing.wait(self._stderr.finished, _GRACE)
        await self.closing.until(self._stderr.is_forwarded, _FLUSH_DEADLINE)
        self.closing.raise_cancelled()

    def _warn(self, message: str) -> None:
        log(_logger, WARNING, message, self.pid)

    async def _end_process(self) -> None:
        deadline, last_deadline = self._options.exit_deadline, self._options.terminate_deadline
        if await self.closing.wait(self._exit.exited, deadline):
            return
        self._warn("The agent (pid %s) is still running after its stdin was closed; sending SIGTERM.")
        self._group.signal("SIGTERM")
        if await self.closing.wait(self._exit.exited, last_deadline):
            return
        self._warn("The agent (pid %s) is still running after SIGTERM; killing it.")
        self._group.signal("SIGKILL")
        await self.closing.wait(self._exit.exited, last_deadline)

    async def _end_descendants(self) -> None:
        deadline = self._options.terminate_deadline
        if await self.closing.until(self._group.is_gone, _GRACE):
            return
        self._warn("The agent (pid %s) left processes behind; sending them SIGTERM.")
        self._group.signal("SIGTERM")
        if await self.closing.until(self._group.is_gone, deadline):
            return
        self._warn("Processes that the agent (pid %s) left behind are still running after SIGTERM; killing them.")
        self._group.signal("SIGKILL")
        await self.closing.until(self._group.is_gone, deadline)


class _Stdout:
    """The stdout of a process, as the source of a connection."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._keep_draining = False

    def start(self, receiver: Receiver, /) -> None:
        """Start reading."""
        self._reader.start(receiver)

    def pause(self) -> None:
        """Stop reading for now."""
        self._reader.pause()

    def resume(self) -> None:
        """Continue reading."""
        self._reader.resume()

    async def stop(self) -> None:
        """Stop delivering to the receiver permanently."""
        if self._keep_draining:
            self._reader.discard()
        else:
            await self._reader.stop()

    def keep_draining(self) -> None:
        """After `stop`, read and discard the data instead of leaving it in the pipe."""
        self._keep_draining = True
