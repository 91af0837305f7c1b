"""Connects the two sides of a test. Adds the last messages to exceptions, and records all messages."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from logging import ERROR, Handler, LogRecord, getLogger
from pathlib import Path
from time import time
from traceback import format_exception
from types import ModuleType
from typing import Any, Literal, TypeAlias, cast

from acp_bindings import v1
from acp_kit.client import ClientSession, client_capabilities, open_session
from acp_kit.common.sequences import check_sequence
from acp_kit.recording.file_format import Direction, WireLine, format_entry
from acp_kit.recording.owner_file import OwnerFile
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.client import ScriptedClient
from acp_kit.testing.replay import Replay
from acp_kit.testing.steps import Exit
from acp_runtime import Options
from acp_runtime.transports import StreamTransport, Transport

AnyAgent: TypeAlias = "ScriptedAgent | Replay | Callable[[Any], Any]"

RECORD = "ACP_RECORD"
"""The environment variable with the folder for recordings, which `acp_kit.testing.pytest_plugin` sets."""

_RUNTIME = getLogger("acp_runtime")
_MAX_FAILURES = 3
_MAX_FRAMES = 3
_MAX_LINES = 12
_MAX_CHARACTERS = 300
_saved_counts: Counter[str] = Counter()


@asynccontextmanager
async def connect(
    agent: ScriptedAgent | Replay | Callable[[v1.RemoteClient], v1.Agent] | Sequence[str],
    client: ScriptedClient | Callable[[v1.RemoteAgent], v1.Client],
    *,
    cwd: str | Path = "/work",
    deadline: float = 10.0,
    capabilities: v1.ClientCapabilities | None = None,
) -> AsyncGenerator[ClientSession]:
    """Connect an agent and a client, initialize, and open a session: `async with connect(agent, client) as session`.

    An exception that leaves the block gets notes, which pytest shows: how far the scripts got, the exceptions of
    handlers, the last messages, and the agent's stderr.

    Args:
        agent: a `ScriptedAgent`, the class of an agent or another factory, or the command that starts an agent, as a
            list. Unless it is a command, the agent runs in this process, with real messages over a socket.
        client: a `ScriptedClient`, or the class of a client or another factory. The session gets updates if the class
            has `UpdateHandlers`.
        cwd: the working directory of the session, absolute.
        deadline: after how many seconds the block fails.
        capabilities: what the client advertises; by default the capabilities of the `ScriptedClient`, or those that
            `client_capabilities` returns for the class.

    Raises:
        TimeoutError: if the block has not ended at the deadline. The message says which step waits.
    """
    if isinstance(cast("object", agent), ScriptedClient) or isinstance(cast("object", client), (ScriptedAgent, Replay)):
        raise TypeError("Pass the agent first: connect(agent, client).")
    async with explaining_failures(deadline, agent, client) as options, AsyncExitStack() as stack:
        if not callable(agent) and not isinstance(agent, (ScriptedAgent, Replay)):
            spawned = v1.spawn_agent(client, *check_sequence("agent", agent), options=options)
            remote = await stack.enter_async_context(spawned)
        else:
            client_end, agent_end = await open_transport_pair()
            serving = asyncio.create_task(serve(agent, agent_end, Options(), lambda _: agent_end.close()))
            stack.push_async_callback(asyncio.gather, serving)
            remote = await stack.enter_async_context(v1.connect(client, client_end, options=options))
        advertised = client.capabilities if isinstance(client, ScriptedClient) else client_capabilities(remote.handler)
        await remote.initialize(protocol_version=1, client_capabilities=capabilities or advertised)
        yield await stack.enter_async_context(open_session(remote, cwd=cwd))


async def open_transport_pair() -> list[StreamTransport]:
    """Open the two ends of a connection in this process."""
    return [StreamTransport(*await asyncio.open_connection(sock=end)) for end in socket.socketpair()]


async def serve(agent: AnyAgent, transport: Transport, options: Options, exit: Exit, profile: ModuleType = v1) -> None:
    """Serve an agent over a transport, until the connection ends. `exit` ends the process of a script."""
    if isinstance(agent, (ScriptedAgent, Replay)):
        await agent.serve(transport, options, exit)
    else:
        await profile.serve(agent, transport, options=options)


@asynccontextmanager
async def explaining_failures(
    deadline: float, *sides: object, sent: Direction = "c2a", received: Direction = "a2c"
) -> AsyncGenerator[Options]:
    """Limit the time of a block. Add notes to an exception that leaves it.

    The notes are how far the scripts got, the exceptions of handlers, and the last messages.

    Yields:
        The options for the connection, which collect its messages and the agent's stderr.
    """
    entries: list[WireLine] = []
    scripts: list[Any] = [side for side in sides if isinstance(getattr(side, "where", None), str)]

    def add_frame(direction: Literal["in", "out"], line: bytes, seconds: float) -> None:
        entries.append(WireLine(time(), sent if direction == "out" else received, line))

    def add_stderr(data: bytes) -> None:
        entries.extend(WireLine(time(), "stderr", line) for line in data.splitlines(keepends=True))

    limit = asyncio.timeout(deadline)
    failures = _Failures(ERROR)
    _RUNTIME.addHandler(failures)
    try:
        async with limit:
            yield Options(on_frame=add_frame, stderr=add_stderr)
    except BaseException as error:
        where = "; ".join(script.where for script in scripts)
        if limit.expired() and isinstance(error, TimeoutError):
            error.args = (f"Not done after {deadline:g} seconds: {where or 'the last messages show who waits'}.",)
        elif scripts:
            error.add_note(f"At the end, {where}.")
        for note in [*failures.notes, *_make_notes(entries)]:
            error.add_note(note)
        raise
    finally:
        _RUNTIME.removeHandler(failures)
        if RECORD in os.environ:
            _save(Path(os.environ[RECORD]), entries)


class _Failures(Handler):
    """Collects the exceptions of handlers, which the other side sees as "Internal error"."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.notes: list[str] = []

    def emit(self, record: LogRecord) -> None:
        error = record.exc_info and record.exc_info[1]
        if error and len(self.notes) < _MAX_FAILURES:
            trace = "".join(format_exception(error, limit=-_MAX_FRAMES)).rstrip()
            self.notes.append(f"{record.getMessage()}:\n{trace}")


def _make_notes(entries: list[WireLine]) -> list[str]:
    """Return the last messages, and the end of stderr."""
    arrows = {"c2a": b"-> ", "a2c": b"<- "}
    messages = [arrows[entry.direction] + entry.data for entry in entries if entry.direction != "stderr"]
    stderr = b"".join(entry.data for entry in entries if entry.direction == "stderr").splitlines()
    parts = {"The last messages (-> to the agent, <- from it):": messages, "The agent's stderr:": stderr}
    return ["\n  ".join([title, *map(_shorten, lines[-_MAX_LINES:])]) for title, lines in parts.items() if lines]


def _shorten(line: bytes) -> str:
    return line.decode(errors="replace").replace('"jsonrpc":"2.0",', "", 1)[:_MAX_CHARACTERS]


def _save(folder: Path, entries: list[WireLine]) -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "connect (call)").rpartition(" ")[0]
    name = re.sub(r"[^\w.-]+", "-", test)[-150:]
    _saved_counts[name] += 1
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{_saved_counts[name]}.jsonl"
    file.unlink(missing_ok=True)
    with closing(OwnerFile(file)) as recording:
        for entry in entries:
            recording.write(format_entry(entry.time, entry.direction, entry.data.rstrip(b"\n")))
