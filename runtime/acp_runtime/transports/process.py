"""An agent as a subprocess: started in a group of its own, always read, and gone with all it started (rule 23)."""

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
from acp_runtime.transports.launching import Launched, launch
from acp_runtime.transports.signals import deferred_interrupts
from acp_runtime.transports.stderr import Stderr
from acp_runtime.transports.stdio import open_reader, open_writer

if TYPE_CHECKING:
    from acp_runtime.transports.stdio import Reader

# How long to wait for what a process that closed its stdout still has to say: its exit code and its last words.
_LAST_WORDS = 1.0
# How long to wait at the end for whoever reads what is handed on of its stderr.
_FLUSH = 0.5
# How long to wait for what should come to its end by itself.
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
    """A process while the block lasts; it and all it started are gone afterwards.

    Raises:
        OSError: if the command can't start, or the file for its stderr can't be opened; names it.
    """
    with ExitStack() as release:
        with deferred_interrupts():
            stderr = Stderr(options)
            release.callback(stderr.close)
            launched = launch(command, args, cwd, environment(env, options.inherit_env))
            release.callback(launched.group.end_now)
            process = Process(launched, stderr, options, release)
        can_wait = True
        try:
            yield process
        except GeneratorExit:
            # The event loop has been left (by Ctrl-C pressed again, for one). What is released is ended at once.
            can_wait = False
            raise
        finally:
            if can_wait:
                await process.end()


class Process:
    """A running subprocess and its pipes.

    Args:
        launched: the subprocess, and this side's descriptors, which this object owns.
        stderr: where its stderr goes.
        options: the deadlines of its end.
        release: gets what closes the descriptors at once.

    Attributes:
        stdin: where the subprocess reads.
        stdout: where it writes.
        closing: the waits of the end, of the connection with it first.
    """

    def __init__(self, launched: Launched, stderr: Stderr, options: Options, release: ExitStack) -> None:
        self._options = options
        self._group = launched.group
        self._stderr = stderr
        reader = self._reader = open_reader(launched.stdout)
        release.callback(reader.close)
        stderr_reader = self._stderr_reader = open_reader(launched.stderr)
        release.callback(stderr_reader.close)
        writer = open_writer(launched.stdin, shared=False)
        release.callback(writer.abort)
        self.stdin: ByteWriter = writer
        self.stdout: _Stdout = _Stdout(reader)
        self.closing: ShieldedWaits = ShieldedWaits()
        self._exit = ExitWatch(launched.group)
        release.callback(self._exit.close)
        # What it has started may hold its stdout for ever. All that it wrote itself is read by then.
        self._exit.exited.add_done_callback(lambda _: reader.end())
        stderr.start(stderr_reader)
        finalize(self, launched.group.end_now).atexit = False

    @property
    def pid(self) -> int:
        """Its id, which is its process group's, too."""
        return self._group.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._group.returncode

    @property
    def stderr(self) -> str:
        """The last that it wrote to its stderr, at most `Options.stderr_tail` bytes."""
        return self._stderr.tail

    @property
    def where_to_look(self) -> str:
        """A sentence that says where its stderr is to be read."""
        return self._stderr.where_to_look

    async def why_closed(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Add the exit code and the end of stderr to the reason why a connection ended."""
        self._exit.poll_faster()
        await asyncio.wait({self._exit.exited}, timeout=_LAST_WORDS)
        if not self._stderr_reader.read_now() and self._exit.exited.done():
            await asyncio.wait({self._stderr.finished}, timeout=_LAST_WORDS)
        return type(reason)(reason.reason, self.returncode, self.stderr)

    def keep_draining(self) -> None:
        """Read on when the connection stops listening, so that what the process still writes doesn't hold it up."""
        self.stdout.keep_draining()

    async def end(self) -> None:
        """Close stdin, wait, terminate, kill; then the same to what the process left behind."""
        self.stdin.abort()
        self._reader.discard()
        self._exit.poll_faster()
        await self._end_process()
        await self._end_what_it_left()
        if not self._stderr_reader.read_now():
            await self.closing.wait(self._stderr.finished, _GRACE)
        await self.closing.until(self._stderr.is_handed_on, _FLUSH)
        self.closing.raise_cancelled()

    def _warn(self, message: str) -> None:
        log(_logger, WARNING, message, self.pid)

    async def _end_process(self) -> None:
        deadline, last_deadline = self._options.exit_deadline, self._options.terminate_deadline
        if await self.closing.wait(self._exit.exited, deadline):
            return
        self._warn("The agent (pid %s) goes on after its stdin was closed; it gets SIGTERM.")
        self._group.signal("SIGTERM")
        if await self.closing.wait(self._exit.exited, last_deadline):
            return
        self._warn("The agent (pid %s) goes on after SIGTERM; it is killed.")
        self._group.signal("SIGKILL")
        await self.closing.wait(self._exit.exited, last_deadline)

    async def _end_what_it_left(self) -> None:
        deadline = self._options.terminate_deadline
        if await self.closing.until(self._group.is_gone, _GRACE):
            return
        self._warn("The agent (pid %s) left processes behind; they get SIGTERM.")
        self._group.signal("SIGTERM")
        if await self.closing.until(self._group.is_gone, deadline):
            return
        self._warn("What the agent (pid %s) left behind goes on after SIGTERM; it is killed.")
        self._group.signal("SIGKILL")
        await self.closing.until(self._group.is_gone, deadline)


class _Stdout:
    """The stdout of a process as a source."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._keep_draining = False

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read."""
        self._reader.start(receiver)

    def pause(self) -> None:
        """Leave what comes in the pipe."""
        self._reader.pause()

    def resume(self) -> None:
        """Read on."""
        self._reader.resume()

    async def stop(self) -> None:
        """Hand on nothing more."""
        if self._keep_draining:
            self._reader.discard()
        else:
            await self._reader.stop()

    def keep_draining(self) -> None:
        """When it is stopped, drop what comes rather than leave it in the pipe."""
        self._keep_draining = True
