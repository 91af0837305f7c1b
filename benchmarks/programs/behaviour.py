"""What an SDK does in situations that a peer at the level of bytes makes. Each probe returns a cell of the table.

Programs in `ours/` and `python_sdk/` call `main` with their SDK. This module imports only the standard library.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

SCRIPTED = Path(__file__).parent / "raw" / "scripted.py"
# The limit that the agents of the SDKs set for the length of a message.
LIMIT = 1 << 20

T = TypeVar("T")
Handler = Callable[[Any], Awaitable[None]]
# The requests that a client of the SDK sends, by method.
Calls = dict[str, Callable[[], Awaitable[object]]]
Probes = dict[str, Callable[[T], Awaitable[str]]]


class Sdk(Protocol):
    """What the program of an SDK provides.

    Attributes:
        models: the module of the models.
        module: the module of the program, which serves an agent if it has an argument.
    """

    models: Any
    module: str

    def connect(self, handle: Handler, *command: str) -> AbstractAsyncContextManager[Calls]:
        """Start an agent, call `initialize` and `session/new`, and give the updates to the handler."""
        ...


def add(probes: Probes[T], label: str) -> Callable[[Callable[[T], Awaitable[str]]], Callable[[T], Awaitable[str]]]:
    """Add a function to probes, which are the rows of the table."""
    return lambda probe: probes.setdefault(label, probe)


def name(error: BaseException) -> str:
    return f"raises `{type(error).__name__}`"


# Clients, with an agent that writes a script.


class Client:
    """A client of the SDK.

    Attributes:
        updates: the updates that were handled.
        levels: the levels of what was logged.
    """

    def __init__(self, sdk: Sdk, folder: Path) -> None:
        self.sdk, self.folder = sdk, folder
        self.updates: list[Any] = []
        self.levels: set[str] = set()

    @asynccontextmanager
    async def connected(self, *lines: object, end: str = "", handle: Handler | None = None) -> AsyncGenerator[Calls]:
        """Start an agent that writes the lines for a prompt, then answers, ends ("exit") or does nothing ("hang")."""
        log, script = self.folder / "log", self.folder / "script"
        script.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))

        async def keep(update: Any) -> None:
            if handle:
                await handle(update)
            self.updates.append(update)

        command = [sys.executable, "-I", "-S", str(SCRIPTED), str(log), str(script), end]
        async with self.sdk.connect(keep, *command) as calls:
            yield calls

    async def call(self, *lines: object, method: str = "session/prompt", **options: Any) -> Exception | None:
        """Send one request, and return the error."""
        try:
            async with self.connected(*lines, **options) as calls:
                await calls[method]()
        except Exception as error:
            return error
        return None

    async def outcome(self, *lines: object, **options: Any) -> str:
        """Return how a prompt ended, and how many of the updates were handled."""
        error = await self.call(*lines, **options)
        sent = sum(not isinstance(line, str) for line in lines)
        logged = "".join(f", {level} in the log" for level in sorted(self.levels))
        return f"{len(self.updates)} of {sent} handled, the prompt {name(error) if error else 'returns'}{logged}"

    def log(self) -> list[dict[str, Any]]:
        """Return the environment of the agent and the messages that it has received."""
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]


@contextmanager
def client(sdk: Sdk) -> Generator[Client]:
    with tempfile.TemporaryDirectory() as folder:
        client = Client(sdk, Path(folder))
        keep = logging.Handler(logging.WARNING)
        keep.emit = lambda record: client.levels.add(record.levelname)  # type: ignore[method-assign]
        logging.getLogger().handlers = [keep]
        yield client


CLIENTS: Probes[Client] = {}
client_row = partial(add, CLIENTS)


def update(text: str, **more: object) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    params = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": content, **more}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


async def handled(client: Client, method: str) -> tuple[list[str], list[str]]:
    """Return the updates that were handled when a call returned, and at the end."""

    async def wait(update: Any) -> None:
        if update.content.text == "1":
            await asyncio.sleep(0.05)

    async with client.connected(update("1"), update("2"), update("3"), handle=wait) as calls:
        await calls[method]()
        returned = [update.content.text for update in client.updates]
        while len(client.updates) < 3:
            await asyncio.sleep(0.01)
    return returned, [update.content.text for update in client.updates]


@client_row("order in which the updates 1, 2 and 3 are handled, if the handler awaits something for 1")
async def order(client: Client) -> str:
    return ", ".join((await handled(client, "session/prompt"))[1])


@client_row("`session/load` returns")
async def load(client: Client) -> str:
    returned, updates = await handled(client, "session/load")
    return f"{'after' if returned == updates else 'before'} all its updates are handled"


@client_row("an unknown key in an update")
async def unknown_key(client: Client) -> str:
    await client.call(update("1", newer=1))
    return "kept, and dumped again" if "newer" in client.updates[0].model_dump_json() else "dropped"


@client_row("the agent writes the line `5` to stdout, then an update")
async def number(client: Client) -> str:
    return await client.outcome("5", update("1"))


async def exits(client: Client) -> tuple[str, str]:
    """Return the error for an agent that ends during a prompt, and what has been written to stderr."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        error = await client.call(end="exit")
        os.dup2(before, 2)
        os.close(before)
        file.seek(0)
        return f"{name(error)}: {error}" if error else "", file.read().decode()


@client_row("the agent writes to stderr")
async def stderr(client: Client) -> str:
    return "copied to the client's stderr" if "out of memory" in (await exits(client))[1] else "not copied"


@client_row("the agent writes a reason to stderr and exits with code 3 during a prompt")
async def exits_with_3(client: Client) -> str:
    kind, _, message = (await exits(client))[0].partition(": ")
    said = [what for what, sign in (("the code", "3"), ("the reason", "out of memory")) if sign in message]
    return f"the prompt {kind}, which has {' and '.join(said) or 'neither'}"


@client_row("the task that awaits a prompt is cancelled")
async def cancelled(client: Client) -> str:
    begun = asyncio.Event()

    async def begin(update: Any) -> None:
        begun.set()

    async with client.connected(update("1"), end="hang", handle=begin) as calls:
        task = asyncio.ensure_future(calls["session/prompt"]())
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        for _ in range(2):  # what was sent for the prompt comes before
            await calls["session/new"]()
    methods = [message.get("method") for message in client.log()]
    sent = [f"`{method}`" for method in methods[methods.index("session/prompt") + 1 :] if method != "session/new"]
    return f"the agent gets {' and '.join(sent) or 'nothing'}"


@client_row("a call of `session/list`, which the agent has not advertised")
async def not_advertised(client: Client) -> str:
    error = await client.call(method="session/list")
    sent = any(message.get("method") == "session/list" for message in client.log())
    return f"{'sent' if sent else 'not sent'}, {name(error) if error else 'returns'}"


@client_row("an environment variable of the client")
async def environment(client: Client) -> str:
    with patch.dict(os.environ, {"VARIABLE_OF_THE_CLIENT": "1"}):
        await client.call()
    return "passed to the agent" if "VARIABLE_OF_THE_CLIENT" in client.log()[0] else "not passed to the agent"


@client_row("an agent is started in an event loop without subprocesses, as on Windows under Jupyter and Tornado")
async def selector(client: Client) -> str:
    with patch.object(asyncio.get_running_loop(), "subprocess_exec", side_effect=NotImplementedError):
        error = await client.call()
    return name(error) if error else "works"


# Agents, with a client that writes bytes.


class Peer:
    """A client at the level of bytes, connected to an agent of the SDK."""

    def __init__(self, sdk: Sdk, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.sdk, self.stdin, self.stdout = sdk, process.stdin, process.stdout
        self.lines: list[bytes] = []
        self.answers: dict[str, dict[str, Any]] = {}

    def send(self, method: str, params: object, **key: str) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **key}
        self.stdin.write(json.dumps(message).encode() + b"\n")

    async def read(self) -> bytes:
        self.lines.append(line := await self.stdout.readline())
        if line.startswith(b"{") and "method" not in (message := json.loads(line)):
            self.answers[str(message["id"])] = message
        return line

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        self.send(method, params, id=method)
        while method not in self.answers and await self.read():
            pass
        return self.answers.pop(method, {})

    async def prompt(self, text: str) -> dict[str, Any]:
        return await self.ask("session/prompt", sessionId="s", prompt=[{"type": "text", "text": text}])


@asynccontextmanager
async def peer(sdk: Sdk) -> AsyncGenerator[Peer]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", sdk.module, "agent", stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
    )
    peer = Peer(sdk, process)
    await peer.ask("initialize", protocolVersion=1)
    await peer.ask("session/new", cwd="/", mcpServers=[])
    yield peer
    peer.stdin.close()
    await process.wait()


def shown(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"error {answer['error']['code']}"
    return f"result `{json.dumps(answer['result'])}`" if answer else "the connection closes"


AGENTS: Probes[Peer] = {}
agent_row = partial(add, AGENTS)


@agent_row("`print` in a handler")
async def prints(peer: Peer) -> str:
    await peer.prompt("print")
    return "written between the messages" if b"printed\n" in peer.lines else "not written to stdout"


@agent_row('`raise ValueError("secret")` in a handler of a request')
async def fails(peer: Peer) -> str:
    answer = await peer.prompt("raise")
    return f"{shown(answer)}, {'with' if 'secret' in str(answer) else 'without'} `secret` in it"


@agent_row("the handler of `session/load` returns None")
async def none(peer: Peer) -> str:
    return shown(await peer.ask("session/load", sessionId="s", cwd="/", mcpServers=[]))


@agent_row("`session/set_mode`, which the class doesn't implement")
async def missing(peer: Peer) -> str:
    return shown(await peer.ask("session/set_mode", sessionId="s", modeId="m"))


@agent_row("an extension request, which the class doesn't implement")
async def extension(peer: Peer) -> str:
    return shown(await peer.ask("_acme/ping"))


@agent_row("`session/cancel` arrives while the handler of the prompt awaits something")
async def cancel(peer: Peer) -> str:
    return await stopped(peer, "session/cancel", "1", sessionId="s")


@agent_row("`$/cancel_request` arrives while the handler of the prompt awaits something")
async def cancel_request(peer: Peer) -> str:
    return await stopped(peer, "$/cancel_request", "2", requestId="2")


async def stopped(peer: Peer, method: str, key: str, **params: object) -> str:
    peer.send("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": f"wait {key}"}]}, id=key)
    while f"wait {key}".encode() not in await peer.read():
        pass
    peer.send(method, params)
    for _ in range(20):  # an agent that cancels the handler has answered before so many more requests
        await peer.ask("_acme/ping")
    return shown(peer.answers[key]) if key in peer.answers else "the handler keeps running"


@agent_row("`title=None` in an update that is sent")
async def null(peer: Peer) -> str:
    await peer.prompt("null")
    return "null" if any(b'"title":null' in line.replace(b" ", b"") for line in peer.lines) else "left out"


@agent_row("a misspelt keyword in a constructor")
async def misspelt(peer: Peer) -> str:
    try:
        peer.sdk.models.NewSessionResponse(session_id="s", mods=None)
    except Exception as error:
        return name(error)
    return "ignored at run time"


@agent_row("`session_id` of a model is set to a number")
async def changed(peer: Peer) -> str:
    response = peer.sdk.models.NewSessionResponse(session_id="s")
    try:
        response.session_id = 5
    except Exception as error:
        return name(error)
    return "set without a check"


# The last one, because it may close the connection.
@agent_row("a prompt of 2 MiB, with a limit of 1 MiB (`stdio_buffer_limit_bytes`, `Options.max_message_bytes`)")
async def too_large(peer: Peer) -> str:
    return shown(await peer.prompt("x" * (2 * LIMIT)))


async def measure(sdk: Sdk) -> dict[str, str]:
    cells: dict[str, str] = {}
    for label, probe in CLIENTS.items():
        with client(sdk) as connectable:
            cells[label] = await probe(connectable)
    async with peer(sdk) as connected:
        for label, check in AGENTS.items():
            cells[label] = await check(connected)
    return cells


def main(sdk: Sdk) -> None:
    print(json.dumps(asyncio.run(measure(sdk))))
