"""A client for the terminal that starts an agent, sends it prompts, prints its updates and asks for permission.

    python examples/terminal_client.py [--say TEXT]... [--yes] COMMAND [ARGUMENT]...

Without `--say`, it reads prompts from stdin until an empty line or the end of input. `--yes` grants every permission.
Addresses that the agent wants opened, for example for a login, are shown, for the user to open them.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Literal

from acp_bindings import v1
from acp_kit.client import (
    ElicitationHandlers,
    Elicitations,
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    allow,
    client_capabilities,
    open_session,
)
from acp_kit.content import to_text


class TerminalClient(
    UpdateHandlers, FileHandlers, TerminalHandlers, PermissionHandlers, ElicitationHandlers, v1.Client
):
    """Asks the user for permission, and serves the files of the current folder and terminals in it."""

    def __init__(
        self, agent: v1.RemoteAgent, terminals: Terminals, permissions: PermissionPolicy, elicitations: Elicitations
    ) -> None:
        self.agent = agent
        self.terminals = terminals
        self.permissions = permissions
        self.elicitations = elicitations
        self.workspace = Workspace(Path.cwd())

    async def session_update(self, notification: v1.SessionNotification) -> None:
        """Show an update, here and not in a loop over the turn, so that it comes before a later question."""
        await super().session_update(notification)
        show(notification.update)


class Lines:
    """The lines of stdin, read in a daemon thread, so that nothing waits for the user, not even the exit."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        Thread(target=self._read, args=[asyncio.get_running_loop()], daemon=True).start()

    async def ask(self, question: str) -> str:
        print(question, end="", flush=True)
        if (line := await self._lines.get()) is None:
            self._lines.put_nowait(None)
        return line or ""

    async def ask_permission(self, request: v1.RequestPermissionRequest) -> str | None:
        print(f"\n? {request.tool_call.title or request.tool_call.tool_call_id}")
        for number, option in enumerate(request.options, 1):
            print(f"  {number}. {option.name}")
        ids = {str(number): option.option_id for number, option in enumerate(request.options, 1)}
        return ids.get(await self.ask("Which? "))

    async def ask_to_open(self, request: v1.CreateElicitationRequestUrl) -> Literal["accept", "decline"]:
        print(f"\n? {request.message}\n  {request.url}")
        return "accept" if await self.ask("Do you open this address? (y/n) ") == "y" else "decline"

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # Not sys.stdin, whose lock would be held at the exit. A RuntimeError says that the loop is closed.
        with open(0, "rb", buffering=0, closefd=False) as stdin, suppress(RuntimeError):
            for line in stdin:
                loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(errors="replace").strip())
            loop.call_soon_threadsafe(self._lines.put_nowait, None)


def show(update: v1.SessionUpdate) -> None:
    match update:
        case v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text)):
            print(text, end="", flush=True)
        case v1.SessionUpdateAgentThoughtChunk(content=v1.ContentBlockText(text=text)):
            print(f"\n({text})", end="", flush=True)
        case v1.SessionUpdateToolCall(title=title):
            print(f"\n> {title}")
        case v1.SessionUpdateToolCallUpdate(status="failed", content=content):
            reason = to_text(each.content for each in content or [] if each.type == "content")
            print(f"> failed: {reason}" if reason else "> failed")
        case v1.SessionUpdateToolCallUpdate(status=str(status)):
            print(f"> {status}")
        case v1.SessionUpdatePlan(entries=entries):
            print("\n" + "\n".join(f"[{entry.status}] {entry.content}" for entry in entries))
        case other:
            print(f"\n({other.session_update})")


async def chat(command: list[str], prompts: list[str], *, grant_all: bool) -> None:
    lines = Lines()
    permissions = PermissionPolicy(*([allow()] if grant_all else []), ask=lines.ask_permission)
    elicitations = Elicitations(open_url=lines.ask_to_open)
    async with (
        Terminals(Path.cwd()) as terminals,
        v1.spawn_agent(lambda agent: TerminalClient(agent, terminals, permissions, elicitations), *command) as agent,
    ):
        await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))
        async with open_session(agent, cwd=Path.cwd()) as session:
            said = iter(prompts)
            while text := next(said, "") if prompts else await lines.ask("\n> "):
                print(f"\n> {text}" if prompts else "")
                async with session.prompt(text) as turn:
                    await turn.wait()
                print(f"\n[{turn.stop_reason}]")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Chat with an ACP agent.")
    parser.add_argument("--say", action="append", default=[], metavar="TEXT", help="a prompt to send; can be repeated")
    parser.add_argument("--yes", action="store_true", help="grant every permission")
    parser.add_argument("command", help="the command that starts the agent")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(chat([options.command, *options.arguments], options.say, grant_all=options.yes))
