"""An agent with streaming, plans, tool calls, files, commands, cancellation and sessions, but no language model.

A prompt is a line of words. `read <path>` and `write <path> <text>` ask for permission and then use the client's files.
`run <line of shell>` asks, and then runs it in the client's terminal or, without one, as a process of the agent.
`count <n>` counts slowly enough to be cancelled. The agent repeats any other prompt.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from acp_bindings import v1
from acp_kit.agent import Sessions, Turn
from acp_kit.content import to_text
from acp_kit.history import MemoryHistory, replay
from acp_runtime import ResourceNotFound


class FullAgent(v1.Agent):
    """An agent that keeps the history of its sessions in memory."""

    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.history = MemoryHistory()
        self.sessions = Sessions(record=self.history.append)

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        """Return the name and the capabilities of this agent."""
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(name="full-agent", title="Full example agent", version="1.0.0"),
            agent_capabilities=v1.AgentCapabilities(load_session=True),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Start a session."""
        session = self.sessions.create(self.client, cwd=request.cwd)
        await self.history.create(session.id, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        """Send the whole conversation again, then answer."""
        await replay(self.history, request.session_id, self.client)
        self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        """Run the command in the prompt. To cancel it, the base class cancels this task."""
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            match to_text(request.prompt).split(maxsplit=2):
                case ["read", path]:
                    await self._read(turn, path)
                case ["write", path, text]:
                    await self._write(turn, path, text)
                case ["run", *words] if words:
                    await self._run(turn, " ".join(words))
                case ["count", number] if number.isdecimal():
                    for count in range(1, int(number) + 1):
                        await turn.say(f"{count} ")
                        await asyncio.sleep(0.01)
                case words:
                    await turn.say(" ".join(words))
        return turn.response

    async def _read(self, turn: Turn, path: str) -> None:
        await turn.plan(v1.PlanEntry(content=f"Read {path}", priority="medium", status="in_progress"))
        async with turn.tool_call(f"Read {path}", kind="read", tool="read", locations=[path]) as call:
            await call.ask()
            text = await turn.read_text_file(path)
            call.output(text)
            await turn.plan(v1.PlanEntry(content=f"Read {path}", priority="medium", status="completed"))
            await turn.say(f"{len(text.splitlines())} lines")

    async def _write(self, turn: Turn, path: str, text: str) -> None:
        async with turn.tool_call(f"Write {path}", kind="edit", tool="write", locations=[path]) as call:
            old = None
            with suppress(ResourceNotFound):
                old = await turn.read_text_file(path)
            call.diff(path, old=old, new=text)
            await call.ask()
            await turn.write_text_file(path, text)

    async def _run(self, turn: Turn, line: str) -> None:
        async with turn.tool_call(f"Run {line}", kind="execute", tool="run") as call:
            await call.ask(remember=line)
            done = await turn.run(line, shell=True, timeout=60, call=call)
            await turn.say(f"{done.output.strip()} (exit code {done.exit_code})")


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(FullAgent))
