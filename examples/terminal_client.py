"""A client for the terminal that starts an agent, sends it prompts, prints its updates and asks for permission.

    python examples/terminal_client.py [--say TEXT]... [--yes] COMMAND [ARGUMENT]...

Without `--say`, it reads prompts from stdin until an empty line or the end of input. `--yes` grants every permission.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from acp_bindings.v1 import (
    Client,
    ClientCapabilities,
    ContentBlockText,
    CreateTerminalRequest,
    CreateTerminalResponse,
    FileSystemCapabilities,
    Implementation,
    KillTerminalRequest,
    KillTerminalResponse,
    ReadTextFileRequest,
    ReadTextFileResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    RemoteAgent,
    RequestPermissionOutcomeCancelled,
    RequestPermissionOutcomeSelected,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    SessionUpdateAgentThoughtChunk,
    SessionUpdatePlan,
    SessionUpdateToolCall,
    SessionUpdateToolCallUpdate,
    TerminalExitStatus,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
    spawn_agent,
)
from acp_runtime import ResourceNotFound


@dataclass
class Terminal:
    """A command that was started for the agent, and its output."""

    process: asyncio.subprocess.Process
    output: bytearray
    reader: asyncio.Task[int]


class TerminalClient(Client):
    """Prints updates, asks the user for permission, and provides files and terminals."""

    def __init__(self, agent: RemoteAgent, *, permit_all: bool = False) -> None:
        self.agent = agent
        self.permit_all = permit_all
        self.terminals: dict[str, Terminal] = {}
        self.numbers = itertools.count(1)

    async def session_update(self, notification: SessionNotification) -> None:
        """Print an update."""
        match notification.update:
            case SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text)):
                print(text, end="", flush=True)
            case SessionUpdateAgentThoughtChunk(content=ContentBlockText(text=text)):
                print(f"\n({text})", end="", flush=True)
            case SessionUpdateToolCall(title=title):
                print(f"\n> {title}")
            case SessionUpdateToolCallUpdate(tool_call_id=call_id, status=status):
                print(f"> {call_id}: {status}")
            case SessionUpdatePlan(entries=entries):
                print("\n" + "\n".join(f"[{entry.status}] {entry.content}" for entry in entries))
            case other:
                print(f"\n({other.session_update})")

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        """Ask the user in a thread, so that other messages are still handled."""
        print(f"\n? {request.tool_call.title or request.tool_call.tool_call_id}")
        for number, option in enumerate(request.options, 1):
            print(f"  {number}. {option.name}")
        choice = "1" if self.permit_all else await asyncio.to_thread(_ask, "Which? ")
        if not choice.isdecimal() or not 1 <= int(choice) <= len(request.options):
            return RequestPermissionResponse(outcome=RequestPermissionOutcomeCancelled())
        option_id = request.options[int(choice) - 1].option_id
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id=option_id))

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        """Return a file, or the requested lines of it."""
        lines = _existing(request.path).read_text("utf-8").splitlines(keepends=True)
        first = max((request.line or 1) - 1, 0)
        last = None if request.limit is None else first + request.limit
        return ReadTextFileResponse(content="".join(lines[first:last]))

    async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        """Write a file, and create its folder if needed."""
        path = Path(request.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(request.content, "utf-8")
        return WriteTextFileResponse()

    async def terminal_create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        """Start a command."""
        process = await asyncio.create_subprocess_exec(
            request.command,
            *request.args,
            cwd=request.cwd,
            env={**os.environ, **{variable.name: variable.value for variable in request.env}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = bytearray()
        terminal_id = f"terminal-{next(self.numbers)}"
        reader = asyncio.create_task(_collect(process, output))
        self.terminals[terminal_id] = Terminal(process, output, reader)
        return CreateTerminalResponse(terminal_id=terminal_id)

    async def terminal_output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        """Return the output of a command so far."""
        terminal = self._terminal(request.terminal_id)
        code = terminal.process.returncode
        text = terminal.output.decode("utf-8", "replace")
        if code is None:
            return TerminalOutputResponse(output=text, truncated=False)
        return TerminalOutputResponse(output=text, truncated=False, exit_status=_exit_status(code))

    async def terminal_wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """Wait until a command has exited and all its output has been read."""
        terminal = self._terminal(request.terminal_id)
        status = _exit_status(await asyncio.shield(terminal.reader))
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def terminal_kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        """Stop a command and keep its output."""
        terminal = self._terminal(request.terminal_id)
        if terminal.process.returncode is None:
            terminal.process.kill()
        return KillTerminalResponse()

    async def terminal_release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        """Stop a command if it still runs, and discard its output."""
        terminal = self._terminal(request.terminal_id)
        del self.terminals[request.terminal_id]
        if terminal.process.returncode is None:
            terminal.process.kill()
        await terminal.reader
        return ReleaseTerminalResponse()

    def _terminal(self, terminal_id: str) -> Terminal:
        terminal = self.terminals.get(terminal_id)
        if terminal is None:
            raise ResourceNotFound(data={"terminalId": terminal_id})
        return terminal


async def _collect(process: asyncio.subprocess.Process, output: bytearray) -> int:
    """Read the output of a command, and return its exit code."""
    assert process.stdout is not None
    while chunk := await process.stdout.read(65536):
        output += chunk
    return await process.wait()


def _exit_status(code: int) -> TerminalExitStatus:
    return TerminalExitStatus(signal=str(-code)) if code < 0 else TerminalExitStatus(exit_code=code)


def _existing(path: str) -> Path:
    found = Path(path)
    if not found.is_file():
        raise ResourceNotFound(data={"path": path})
    return found


def _ask(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError:
        return ""


async def chat(command: list[str], prompts: list[str], *, permit_all: bool) -> None:
    """Run one session with the prompts given, or with those that the user types."""
    capabilities = ClientCapabilities(
        fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
    )
    async with spawn_agent(lambda agent: TerminalClient(agent, permit_all=permit_all), *command) as agent:
        await agent.initialize(
            protocol_version=1,
            client_capabilities=capabilities,
            client_info=Implementation(name="terminal-client", version="1.0.0"),
        )
        session = await agent.session_new(cwd=str(Path.cwd()), mcp_servers=[])
        for text in prompts or iter(lambda: _ask("\n> "), ""):
            if prompts:
                print(f"\n> {text}")
            turn = await agent.session_prompt(session_id=session.session_id, prompt=[ContentBlockText(text=text)])
            print(f"\n[{turn.stop_reason}]")


def main() -> None:
    """Parse the command line and run a session."""
    parser = argparse.ArgumentParser(description="Chat with an ACP agent.")
    parser.add_argument("--say", action="append", default=[], metavar="TEXT", help="a prompt to send; can be repeated")
    parser.add_argument("--yes", action="store_true", help="grant every permission")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, help="the command that starts the agent, and its arguments"
    )
    options = parser.parse_args()
    if not options.command:
        parser.error("no agent given: add the command that starts it")
    asyncio.run(chat(options.command, options.say, permit_all=options.yes))


if __name__ == "__main__":
    main()
