"""Connects the two sides of a test, and says what has happened between them if it fails."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any, Literal, TypeAlias

from acp_bindings import v1
from acp_kit.client import ClientSession, client_capabilities, open_session
from acp_kit.recording import Direction, format_entry
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.client import ScriptedClient
from acp_kit.testing.replay import Replay
from acp_runtime import Options
from acp_runtime.transports import StreamTransport

Agent: TypeAlias = "ScriptedAgent | Replay | Callable[[v1.RemoteClient], v1.Agent] | Sequence[str]"
Client: TypeAlias = "ScriptedClient | Callable[[v1.RemoteAgent], v1.Client]"

RECORD = "ACP_RECORD"
"""The environment variable with the folder for recordings, which `acp_kit.testing.pytest_plugin` sets."""

_SHOWN = 12
_ARROWS = {"c2a": "->", "a2c": "<-"}
_saved: Counter[str] = Counter()


@asynccontextmanager
async def connect(
    agent: Agent,
    client: Client,
    *,
    cwd: str | Path = "/work",
    deadline: float = 10.0,
    capabilities: v1.ClientCapabilities | None = None,
    options: Options | None = None,
) -> AsyncGenerator[ClientSession]:
    """Connect an agent and a client, initialize, and open a session: `async with connect(agent, client) as session`.

    An exception that leaves the block gets notes, which pytest shows: where the scripts are, the last messages, and
    what the agent has written to stderr.

    Args:
        agent: a `ScriptedAgent`, the class of an agent or another factory, or the arguments of a command that starts
            one. An agent that is no command runs in this process, with real messages over a socket.
        client: a `ScriptedClient`, or the class of a client or another factory. The session has updates if the class
            has `UpdateHandlers`.
        cwd: the working directory of the session, absolute.
        deadline: after how many seconds the block fails.
        capabilities: what the client advertises; by default those of the `ScriptedClient`, or what
            `client_capabilities` says of the class.
        options: of both ends of the connection.

    Raises:
        TimeoutError: when the block has not ended at the deadline. The message says which step waits.
    """
    wire = _Log(options or Options())
    scripts = [each for each in (agent, client) if isinstance(each, (ScriptedAgent, Replay, ScriptedClient))]
    waiting: list[str] = []

    def note_waiting() -> None:
        waiting.extend([each.where for each in scripts] + wire.pending())

    limit = asyncio.timeout(deadline)
    try:
        async with AsyncExitStack() as stack:
            # Before the timeout cancels the block, which lets the scripts go on.
            stack.callback(asyncio.get_running_loop().call_later(deadline, note_waiting).cancel)
            await stack.enter_async_context(limit)
            remote = await stack.enter_async_context(_connected(agent, client, wire.options))
            if isinstance(client, ScriptedClient):
                capabilities = capabilities or client.capabilities
            await remote.initialize(
                protocol_version=1, client_capabilities=capabilities or client_capabilities(remote.handler)
            )
            yield await stack.enter_async_context(open_session(remote, cwd=cwd))
    except BaseException as error:
        if limit.expired() and isinstance(error, TimeoutError):
            error.args = (f"Not done after {deadline:g} seconds: {'; '.join(waiting)}.",)
        elif scripts:
            error.add_note(f"At the end, {'; '.join(each.where for each in scripts)}.")
        for note in wire.notes():
            error.add_note(note)
        raise
    finally:
        wire.save()


@asynccontextmanager
async def _connected(agent: Any, client: Any, options: Options) -> AsyncGenerator[v1.RemoteAgent]:
    if isinstance(agent, Sequence):
        async with v1.spawn_agent(client, *agent, options=options) as remote:
            yield remote
        return
    ours, theirs = [await _transport(each) for each in socket.socketpair()]
    own_options = replace(options, on_frame=None)
    serving = asyncio.create_task(
        agent.serve(theirs, own_options, lambda _: None)
        if isinstance(agent, (ScriptedAgent, Replay))
        else v1.serve(agent, theirs, options=own_options)
    )
    try:
        async with v1.connect(client, ours, options=options) as remote:
            yield remote
    finally:
        await serving


async def _transport(end: socket.socket) -> StreamTransport:
    return StreamTransport(*await asyncio.open_connection(sock=end))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _short(text: str) -> str:
    text = text.replace('"jsonrpc":"2.0",', "", 1)
    return text if len(text) <= 300 else f"{text[:297]}..."


class _Log:
    """What has passed between a client and an agent.

    Attributes:
        options: those of the connection, with which it is filled.
    """

    def __init__(self, options: Options) -> None:
        self._entries: list[tuple[float, Direction, bytes]] = []
        self._stderr = b""
        self._on_frame = options.on_frame
        stderr = self._add_stderr if options.stderr == "inherit" else options.stderr
        self.options = replace(options, on_frame=self._add_frame, stderr=stderr)

    def pending(self) -> list[str]:
        """Return which requests have no answer, in words."""
        asked: dict[tuple[str, str], str] = {}
        for _, direction, line in self._entries:
            match _parsed(line):
                case {"method": method, "id": id}:
                    asked[direction, json.dumps(id)] = method
                case {"id": id}:
                    asked.pop(("a2c" if direction == "c2a" else "c2a", json.dumps(id)), None)
                case _:
                    pass
        who = {"c2a": "client", "a2c": "agent"}
        return [f"the {who[direction]} waits for the answer to {method}" for (direction, _), method in asked.items()]

    def notes(self) -> list[str]:
        """Return the last messages, and the end of stderr."""
        frames = [(direction, line) for _, direction, line in self._entries if direction != "stderr"][-_SHOWN:]
        shown = [f"  {_ARROWS[direction]} {_short(line.decode(errors='replace'))}" for direction, line in frames]
        stderr = self._stderr.decode(errors="replace").splitlines()[-_SHOWN:]
        return [
            *(["\n".join(["The last messages (-> to the agent, <- from it):", *shown])] if shown else []),
            *(["\n  ".join(["The agent's stderr:", *stderr])] if stderr else []),
        ]

    def save(self) -> None:
        """Write a recording, if that was asked for."""
        folder = os.environ.get(RECORD)
        if folder is None:
            return
        test = os.environ.get("PYTEST_CURRENT_TEST", "connect (call)").rpartition(" ")[0]
        name = re.sub(r"[^\w.-]+", "-", test)[-150:]
        _saved[name] += 1
        path = Path(folder, f"{name}-{_saved[name]}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.writelines(format_entry(*entry) for entry in self._entries)

    def _add_frame(self, direction: Literal["in", "out"], line: bytes, seconds: float) -> None:
        self._entries.append((time(), "c2a" if direction == "out" else "a2c", line))
        if self._on_frame is not None:
            self._on_frame(direction, line, seconds)

    def _add_stderr(self, data: bytes) -> None:
        self._stderr += data
        self._entries += [(time(), "stderr", line) for line in data.splitlines()]
