"""Runs a command: in a terminal of the client if it offers terminals, otherwise as a process of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from acp_bindings import v1
from acp_kit.agent.terminals import Terminal, TerminalResult
from acp_kit.local.output_tail import OutputTail
from acp_kit.local.terminals import Terminals, in_shell

if TYPE_CHECKING:
    from acp_kit.agent.session_base import SessionBase
    from acp_kit.agent.tool_calls import ToolCall


@dataclass(frozen=True)
class CommandRun:
    """Runs a command for a turn. The attributes are the arguments of `Turn.run`."""

    command: str
    args: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    inherit_env: bool | Collection[str]
    shell: bool
    timeout: float | None
    output_byte_limit: int

    async def run(self, session: SessionBase, call: ToolCall | None) -> TerminalResult:
        """Run the command until it exits, then end its descendants. `call` shows its output."""
        command, args = in_shell(self.command, self.args) if self.shell else (self.command, self.args)
        if session.client.supports("terminal/create"):
            return await self._run_in_terminal(session, command, args, call)
        result = await self._run_locally(session.id, command, args)
        if call is not None and result.output:
            call.output(result.output)
        return result

    async def _run_in_terminal(
        self, session: SessionBase, command: str, args: tuple[str, ...], call: ToolCall | None
    ) -> TerminalResult:
        terminal = Terminal(
            session.client,
            session.id,
            command,
            args,
            cwd=self.cwd,
            env=self.env,
            output_byte_limit=self.output_byte_limit,
        )
        async with terminal:
            if call is not None:
                call.output(terminal.content)
                await call.update()
            result = await terminal.wait(self.timeout)
        tail = OutputTail(self.output_byte_limit)  # some clients exceed the limit
        tail.add(result.output.encode(errors="replace"))
        return replace(result, output=tail.text, truncated=True) if tail.truncated else result

    async def _run_locally(self, session_id: str, command: str, args: tuple[str, ...]) -> TerminalResult:
        env = [v1.EnvVariable(name=name, value=value) for name, value in self.env.items()]
        timed_out = False
        terminals = Terminals(inherit_env=self.inherit_env, max_output_bytes=self.output_byte_limit, keep_released=0)
        async with terminals:
            create = v1.CreateTerminalRequest(
                session_id=session_id, command=command, args=[*args], cwd=self.cwd, env=env
            )
            id = (await terminals.terminal_create(create)).terminal_id
            try:
                async with asyncio.timeout(self.timeout):
                    wait = v1.WaitForTerminalExitRequest(session_id=session_id, terminal_id=id)
                    await terminals.terminal_wait_for_exit(wait)
            except TimeoutError:
                timed_out = True
                await terminals.terminal_kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=id))
            output = await terminals.terminal_output(v1.TerminalOutputRequest(session_id=session_id, terminal_id=id))
        return TerminalResult.of(output.exit_status, output, timed_out=timed_out)
