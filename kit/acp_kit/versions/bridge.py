"""The command `acp-bindings bridge`."""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from acp_bindings import v1, v2_draft as v2
from acp_kit.common.command_line import CommandParser, explain
from acp_kit.local.orphan_guard import OrphanGuard
from acp_kit.versions.factory import as_v2
from acp_runtime import ProcessInfo

_NOT_STARTED = 127


def add_bridge(parser: CommandParser) -> None:
    """Add the arguments of `bridge`, and set `run`."""
    parser.description = (
        "Serve an agent of version 1 to clients of the draft of version 2: in the client's settings, write this "
        "command before the agent's. The guide two-versions.md says what is translated."
    )
    parser.add_command("the command that starts the agent")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    code = asyncio.run(_Bridge(options.command).serve())
    if code < 0:
        signal.raise_signal(-code)
    return code


class _Bridge:
    """Serves an agent on stdin and stdout, until the client or the agent ends.

    Args:
        command: the agent and its arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._agent: ProcessInfo | None = None
        self._exit_code = 0
        self._has_ended = asyncio.Event()

    async def serve(self) -> int:
        """Serve it. Return its exit code, 127 if it can't be started, or 0 if it wasn't started."""
        serving = asyncio.create_task(v2.serve_stdio(as_v2(open=self._open)))
        ended = asyncio.create_task(self._has_ended.wait())
        await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        return self._exit_code

    @asynccontextmanager
    async def _open(self, make_client: Callable[[v1.RemoteAgent], v1.Client]) -> AsyncGenerator[v1.RemoteAgent]:
        guard = OrphanGuard()
        try:
            async with v1.spawn_agent(make_client, *self._command) as agent:
                self._agent = agent.process
                if self._agent is not None:
                    guard.guard(self._agent.pid)
                watching = asyncio.create_task(self._watch(agent))
                try:
                    yield agent
                finally:
                    watching.cancel()
        except OSError as error:
            sys.stderr.write(f"acp-bindings bridge: {explain(error)}\n")
            self._exit_code = _NOT_STARTED
            self._has_ended.set()
            raise
        finally:
            guard.close()
            if self._agent is not None:
                self._exit_code = self._agent.returncode or 0

    async def _watch(self, agent: v1.RemoteAgent) -> None:
        await agent.wait_closed()
        self._has_ended.set()
