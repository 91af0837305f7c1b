"""A client for the terminal: starts any agent, chats with it, shows what it does and asks before it may.

    python examples/terminal_client.py [--say TEXT]... [--yes] COMMAND [ARGUMENT]...

Without `--say` it reads prompts from the terminal until end of input. `--yes` permits everything.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
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
    """A command that runs for the agent, and what it has printed."""

    process: asyncio.subprocess.Process
    output: bytearray
    reader: asyncio.Task[None]


class TerminalClient(Client):
    """Prints updates as they stream, asks for permission, serves files and terminals."""

    def __init__(self, agent: RemoteAgent, *, permit_all: bool = False) -> None:
        self.agent = agent
        self.permit_all = permit_all
        self.terminals: dict[str, Terminal] = {}
        self.numbers = itertools.count(1)

    async def session_update(self, notification: SessionNotification) -> None:
        """Show what the agent says and does."""
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
        """Ask on the terminal, without stopping everything else."""
        print(f"\n? {request.tool_call.title or request.tool_call.tool_call_id}")
        for number, option in enumerate(request.options, 1):
            print(f"  {number}. {option.name}")
        choice = "1" if self.permit_all else await asyncio.to_thread(_ask, "Which? ")
        if not choice.isdecimal() or not 1 <= int(choice) <= len(request.options):
            return RequestPermissionResponse(outcome=RequestPermissionOutcomeCancelled())
        option_id = request.options[int(choice) - 1].option_id
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id=option_id))

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        """Read a file, or the lines asked for."""
        lines = _existing(request.path).read_text("utf-8").splitlines(keepends=True)
        first = max((request.line or 1) - 1, 0)
        last = None if request.limit is None else first + request.limit
        return ReadTextFileResponse(content="".join(lines[first:last]))

    async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        """Write a file, its folders included."""
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
        """Tell what a command has printed so far."""
        terminal = self._terminal(request.terminal_id)
        code = terminal.process.returncode
        text = terminal.output.decode("utf-8", "replace")
        if code is None:
            return TerminalOutputResponse(output=text, truncated=False)
        return TerminalOutputResponse(output=text, truncated=False, exit_status=_exit_status(code))

    async def terminal_wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """Wait for a command to end."""
        status = _exit_status(await self._terminal(request.terminal_id).process.wait())
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def terminal_kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        """Stop a command; its output stays."""
        terminal = self._terminal(request.terminal_id)
        if terminal.process.returncode is None:
            terminal.process.kill()
        return KillTerminalResponse()

    async def terminal_release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        """Forget a command, and stop it if it still runs."""
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


async def _collect(process: asyncio.subprocess.Process, output: bytearray) -> None:
    assert process.stdout is not None
    while chunk := await process.stdout.read(65536):
        output += chunk
    await process.wait()


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


async def chat(command: list[str], said: list[str], *, permit_all: bool) -> None:
    """One session with an agent: the prompts given, or those typed."""
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
        prompts = iter(said) if said else iter(lambda: _ask("\n> "), "")
        for text in prompts:
            if said:
                print(f"\n> {text}")
            turn = await agent.session_prompt(session_id=session.session_id, prompt=[ContentBlockText(text=text)])
            print(f"\n[{turn.stop_reason}]")


def main() -> None:
    """Read the command line and chat."""
    parser = argparse.ArgumentParser(description="Chat with an ACP agent.")
    parser.add_argument("--say", action="append", default=[], metavar="TEXT", help="a prompt; may be repeated")
    parser.add_argument("--yes", action="store_true", help="permit everything")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the agent and its arguments")
    options = parser.parse_args()
    if not options.command:
        parser.error("which agent? Give the command that starts it.")
    asyncio.run(chat(options.command, options.say, permit_all=options.yes))


if __name__ == "__main__":
    main()
