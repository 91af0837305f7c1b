"""A command that runs in a process group of its own, with the end of its output."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import cast

from acp_kit.common.shielded_tasks import run_to_end
from acp_kit.local.orphan_guard import OrphanGuard
from acp_kit.local.output_tail import OutputTail
from acp_runtime.processes import ProcessGroup, start
from acp_runtime.transports import open_reader

# Seconds to wait for the system to end killed processes.
_KILL_DEADLINE = 2.0
# Seconds to wait until the event loop notices that a process has exited; on Windows, also for its last output.
_READ_DEADLINE = 0.1
# Seconds between two checks whether processes have ended.
_POLL_INTERVAL = 0.02


@dataclass(frozen=True)
class ExitStatus:
    """How a command ended.

    Attributes:
        exit_code: its exit code; None if a signal ended it, or if that is unknown.
        signal: the name of the signal, such as "SIGKILL"; None if it exited, or if that is unknown.
    """

    exit_code: int | None
    signal: str | None


class RunningCommand:
    """A command that was started. Its stdin is empty, and its stdout and stderr are one output.

    Descendants that still run after the command has exited can add output. If this process is killed, the command and
    its descendants are killed, too.

    Args:
        command: the program.
        args: its arguments.
        cwd: its working folder; None for this process's.
        env: its environment.
        limit: how many bytes of output to keep.

    Attributes:
        output: the end of the output that was read so far.

    Raises:
        OSError: if it can't be started. The message has the command and the reason.
    """

    def __init__(
        self, command: str, args: tuple[str, ...], cwd: str | Path | None, env: dict[str, str], limit: int
    ) -> None:
        self.output: OutputTail = OutputTail(limit)
        self._output_ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._guard = OrphanGuard()
        try:
            self._group: ProcessGroup = start(command, args, cwd, env, stdin=DEVNULL, stderr=STDOUT)
        except BaseException:
            self._guard.close()
            raise
        self._guard.guard(self._group.pid)
        self._group.exited.add_done_callback(lambda _: self._end_guard())
        self._reader = open_reader(cast("FileIO", self._group.popen.stdout))
        self._reader.start(self)

    @property
    def pid(self) -> int:
        """The id of its process, and of its process group."""
        return self._group.pid

    @property
    def exit_status(self) -> ExitStatus | None:
        """How it ended; None while it runs."""
        code = self._group.returncode
        if code is None or not self._group.exited.done():
            return None
        if not self._group.has_status:
            return ExitStatus(None, None)
        return ExitStatus(code, None) if code >= 0 else ExitStatus(None, _signal_name(-code))

    async def read_available(self) -> None:
        """Read the available output, without waiting for more."""
        if not self._reader.read_now() and self._group.exited.done():
            await asyncio.wait({self._output_ended}, timeout=_READ_DEADLINE)

    async def wait(self) -> None:
        """Wait until the command has exited and its output was read."""
        await asyncio.wait({self._group.exited})
        await self.read_available()

    @staticmethod
    async def end(commands: Collection[RunningCommand], grace: float) -> None:
        """End commands and their descendants, first with SIGTERM, then with SIGKILL.

        If this is cancelled, SIGKILL follows immediately.

        Args:
            commands: the commands. Exited ones may have left descendants.
            grace: the seconds between the two signals.
        """
        cancelled = asyncio.Event()
        await run_to_end(_end([command._group for command in commands], grace, cancelled), on_cancel=cancelled.set)

    def close(self) -> None:
        """Release its pipe, and let pending calls of `wait` return. Call this after `end`."""
        self._guard.close()
        self._reader.read_now()
        self._reader.close()
        if not self._group.exited.done():
            self._group.exited.set_result(None)

    def received(self, data: bytes, /) -> None:
        """Keep some output."""
        self.output.add(data)

    def ended(self, error: OSError | None, /) -> None:
        """Note the end of the output."""
        self.output.end()
        if not self._output_ended.done():
            self._output_ended.set_result(None)

    def _end_guard(self) -> None:
        if self._group.is_gone():
            self._guard.close()


async def _end(groups: Collection[ProcessGroup], grace: float, cancelled: asyncio.Event) -> None:
    for group in groups:
        group.signal("SIGTERM")
    if not await _wait_until(lambda: all(group.is_gone() for group in groups), grace, cancelled):
        await _wait_until(lambda: _kill(groups), _KILL_DEADLINE)
    for group in groups:
        group.end_now()  # returns immediately, unless the system couldn't end a process in time
        await asyncio.wait({group.exited}, timeout=_READ_DEADLINE)


async def _wait_until(condition: Callable[[], bool], deadline: float, cancelled: asyncio.Event | None = None) -> bool:
    """Wait until a condition holds, the deadline passes or `cancelled` is set. Return whether the condition holds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline
    while not condition():
        if loop.time() >= end or (cancelled is not None and cancelled.is_set()):
            return False
        await asyncio.sleep(_POLL_INTERVAL)
    return True


def _kill(groups: Iterable[ProcessGroup]) -> bool:
    """Kill all remaining processes, and return whether there were none. Groups may have started new ones."""
    are_gone = True
    for group in groups:
        group.signal("SIGKILL")
        are_gone = group.is_gone() and are_gone
    return are_gone


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most of the real-time signals have no name
        return f"SIG{number}"
