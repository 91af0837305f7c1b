"""Commands in terminals of the client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias

from acp_bindings import v1
from acp_kit.common.profiles import like
from acp_kit.common.sequences import check_sequence
from acp_kit.common.shielded_tasks import run_within
from acp_runtime import ABSENT

# How long the client may take to kill a command after a timeout, or to release a terminal at the end of its block, in
# seconds. If the block is cancelled while the terminal is created, this includes its creation.
_DEADLINE = 5.0


Exited: TypeAlias = v1.WaitForTerminalExitResponse | v1.TerminalExitStatus


@dataclass(frozen=True)
class TerminalResult:
    """How a command ended, and its output.

    Attributes:
        exit_code: its exit code; None if a signal ended it, or if it is unknown.
        signal: the signal that ended it, such as `SIGKILL`; None if it exited by itself, or if it is unknown.
        output: its output, or the end of it.
        truncated: whether the beginning of the output is missing.
        timed_out: whether it was killed because of the timeout.
    """

    exit_code: int | None
    signal: str | None
    output: str
    truncated: bool
    timed_out: bool

    @classmethod
    def of(cls, exited: Exited | None, output: v1.TerminalOutputResponse, *, timed_out: bool) -> TerminalResult:
        """Return the result of a command from the client's responses."""
        code, signal = (exited.exit_code, exited.signal) if exited else (None, None)
        return cls(code, signal, output.output, output.truncated, timed_out)


class Terminal:
    """A command in a terminal of the client. Use it as an async context manager.

    The end of the block always releases the terminal, which kills a command that still runs. It waits at most 5 seconds
    for the client's response. To keep the output visible to the user, add the terminal to a tool call
    (`call.output(terminal.content)`) before the block ends.

    Attributes:
        terminal_id: its id. Set when the block is entered.
    """

    def __init__(
        self,
        client: v1.RemoteClient,
        session_id: str,
        command: str,
        args: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        output_byte_limit: int | None,
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._command = command
        self._args = check_sequence("args", args)
        self._cwd = cwd
        self._env = env
        self._limit = output_byte_limit
        self.terminal_id: str = ""

    async def __aenter__(self) -> Terminal:
        creating = asyncio.ensure_future(self._create())
        try:
            self.terminal_id = await asyncio.shield(creating)
        except asyncio.CancelledError:
            with suppress(Exception):
                await run_within(self._release_late(creating), _DEADLINE)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await run_within(self._release(self.terminal_id), _DEADLINE)
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"The terminal {self.terminal_id!r} could not be released: {failure}")

    @property
    def content(self) -> v1.ToolCallContentTerminal:
        """The terminal as content of a tool call, which shows its output live."""
        return like(self._client, v1.ToolCallContentTerminal)(terminal_id=self.terminal_id)

    async def wait(self, timeout: float | None = None) -> TerminalResult:
        """Wait until the command has exited. Kill it on a timeout.

        If the client doesn't report the exit of the killed command within 5 seconds, the exit status is unknown.

        Args:
            timeout: how long to wait, in seconds; None for no limit.

        Raises:
            RemoteError: if the client answers with an error.
        """
        exited = await self._wait_for_exit(timeout)
        timed_out = exited is None
        if exited is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_DEADLINE):
                    await self.kill()
                    exited = await self._wait_for_exit(None)
        output = await self._client.terminal_output(session_id=self._session_id, terminal_id=self.terminal_id)
        return TerminalResult.of(exited, output, timed_out=timed_out)

    async def output(self) -> str:
        """Return the output so far, or the end of it."""
        response = await self._client.terminal_output(session_id=self._session_id, terminal_id=self.terminal_id)
        return response.output

    async def kill(self) -> None:
        """Kill the command. Its output can still be read, and `wait` returns."""
        await self._client.terminal_kill(session_id=self._session_id, terminal_id=self.terminal_id)

    async def _wait_for_exit(self, timeout: float | None) -> v1.WaitForTerminalExitResponse | None:
        """Wait for the exit. Return None on a timeout."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                return await self._client.terminal_wait_for_exit(
                    session_id=self._session_id, terminal_id=self.terminal_id
                )
        return None

    async def _create(self) -> str:
        variable = like(self._client, v1.EnvVariable)
        created = await self._client.terminal_create(
            session_id=self._session_id,
            command=self._command,
            args=self._args,
            env=[variable(name=name, value=value) for name, value in self._env.items()],
            cwd=self._cwd,
            output_byte_limit=ABSENT if self._limit is None else self._limit,
        )
        return created.terminal_id

    async def _release_late(self, creating: asyncio.Future[str]) -> None:
        """Release a terminal that is created after its block was cancelled."""
        await self._release(await creating)

    async def _release(self, terminal_id: str) -> None:
        await self._client.terminal_release(session_id=self._session_id, terminal_id=terminal_id)
