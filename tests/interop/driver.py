"""Drives a client. Most are written with another SDK and run in a subprocess.

One process serves all tests with an SDK, because importing an SDK takes longer than most tests. It connects to several
agents at the same time. A test writes commands to its stdin, one per line, each with the number of its `connection`:

* `{"connect", "version"}`: start an agent with a command, and connect to it; or connect to an agent behind a URL;
* `{"close"}`: disconnect from the agent, and wait until it has exited;
* `{"id", "call", "params"}` and `{"id", "notify", "params"}`: send a message to the agent;
* `{"id", "cancel_call"}`: cancel the last call of a method;
* `{"id", "responses"}`: how to answer the agent's requests from now on, by method: with `{"result"}`, `{"error"}`,
  `{"crash"}`, with `{"cancelled"}`, a result that is returned when the session is cancelled, or with `{"disk"}`, for
  which the file is read or written.

The client writes to its stdout, each with the number of the connection:

* `{"id", "result"}` and `{"id", "error"}`: the outcome of a command;
* `{"event", "params"}`: the method and params of a message from the agent;
* `{"exit"}`: the exit code of the agent, after `close`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Command = list[str]

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("script.json").read_text("utf-8"))
RESPONSES: dict[str, Any] = {
    "session/request_permission": {"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}},
    "fs/read_text_file": {"result": {"content": "second line\n"}},
    "fs/write_text_file": {"result": {}},
    "terminal/create": {"result": {"terminalId": "t-1"}},
    "terminal/output": {"result": {"output": "making\n", "truncated": True}},
    "terminal/kill": {"result": {}},
    "terminal/wait_for_exit": {"result": {"signal": "SIGKILL"}},
    "terminal/release": {"result": {}},
    "elicitation/create": {"result": {"action": "accept", "content": {"name": "Ada", "age": 36, "sure": True}}},
    "_interop/ask": {"result": {"asked": True}},
}
_END_SECONDS = 60


class PeerError(Exception):
    """The error that a call of the client raised in its process."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.error = error
        self.code = error.get("code")  # None if it is an error of the transport


class Program:
    """The process in which a client runs. It exits with 0 when its stdin is closed."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._connections: dict[int, Driver] = {}
        self._reading = asyncio.create_task(self._read())

    def connect(self, agent: Command | str, version: str) -> Driver:
        """Start an agent and connect to it, or connect to the one behind a URL."""
        assert not self._reading.done(), "the client has exited"
        number = len(self._connections)
        self._connections[number] = client = Driver(lambda command: self._write({"connection": number, **command}))
        self._write({"connection": number, "connect": agent, "version": version})
        return client

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(_END_SECONDS):
            await self._reading
            assert await self._process.wait() == 0

    async def abort(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self._process.wait()

    def _write(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            message = json.loads(line)
            self._connections[message.pop("connection")].receive(message)
        for client in self._connections.values():
            client.lose()


class Driver:
    """Sends commands about one connection to the client, and receives its output.

    Attributes:
        events: the messages from the agent, as method and params.
        initialized: the response to `initialize`.
        agent_exit_code: the exit code of the agent that the client has started; None while it runs.
        changed: set when something has come from the client.
    """

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._write = write
        self._ids = itertools.count()
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self.changed = asyncio.Event()
        self._ended = asyncio.Event()
        self.events: list[tuple[str, Any]] = []
        self.initialized: Any = None
        self.agent_exit_code: int | None = None

    async def initialize(self, version: int = 1) -> Any:
        about = {"clientCapabilities": SCRIPT["clientCapabilities"], "clientInfo": SCRIPT["clientInfo"]}
        self.initialized = await self.call("initialize", {"protocolVersion": version, **about})
        return self.initialized

    async def open(self) -> None:
        """Initialize the connection, and create the session `new`."""
        await self.initialize()
        session = await self.call("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert session["sessionId"] == "new"

    async def prompt(self, *actions: Any, blocks: Sequence[Any] = (), session: str = "new") -> Any:
        """Send a prompt with a text, or with what the agent does (`contract.py`), and other content."""
        text = actions[0] if isinstance(actions[0], str) else json.dumps(actions)
        prompt = [{"type": "text", "text": text}, *blocks]
        return await self.call("session/prompt", {"sessionId": session, "prompt": prompt})

    async def results(self) -> list[Any]:
        """Return the results of the agent's calls."""
        results: list[Any] = json.loads((await self.said())[-1])
        return results

    async def call(self, method: str, params: Any) -> Any:
        """Send a request to the agent and return its result. Raises PeerError if the client's call raises."""
        return await self._send({"call": method, "params": params})

    async def notify(self, method: str, params: Any) -> None:
        await self._send({"notify": method, "params": params})

    async def cancel_call(self, method: str) -> None:
        """Make the client cancel its last call of a method."""
        await self._send({"cancel_call": method})

    async def until(self, text_or_method: str) -> None:
        """Wait until the agent has sent a text, or a request with a method."""
        while text_or_method not in [*self.texts(), *(method for method, _ in self.events)]:
            self.changed.clear()
            await self.changed.wait()

    async def said(self, count: int = 1) -> list[str]:
        """Wait until the agent has sent a number of texts, and return them."""
        while len(self.texts()) < count:
            self.changed.clear()
            await self.changed.wait()
        return self.texts()

    def updates(self) -> list[Any]:
        return [params["update"] for method, params in self.events if method == "session/update"]

    def requests(self) -> list[tuple[str, Any]]:
        """Return the requests of the agent, as method and params."""
        return [(method, params) for method, params in self.events if method in RESPONSES]

    def texts(self) -> list[str]:
        """Return the texts of the agent's messages."""
        return [
            update["content"]["text"] for update in self.updates() if update["sessionUpdate"] == "agent_message_chunk"
        ]

    async def end(self) -> None:
        """Close the connection, and wait until the agent has exited."""
        self._write({"close": True})
        async with asyncio.timeout(_END_SECONDS):
            await self._ended.wait()

    async def set_responses(self, changes: dict[str, Any]) -> None:
        """Make the client answer requests with `RESPONSES`, except for these changes."""
        await self._send({"responses": {**RESPONSES, **changes}})

    async def _send(self, command: dict[str, Any]) -> Any:
        if self._ended.is_set():
            raise EOFError("the client has exited")
        id = next(self._ids)
        self._calls[id] = asyncio.get_running_loop().create_future()
        self._write({"id": id, **command})
        return await self._calls[id]

    def receive(self, message: dict[str, Any]) -> None:
        if "event" in message:
            self.events.append((message["event"], message["params"]))
            self.changed.set()
        elif "exit" in message:
            self.agent_exit_code = message["exit"]
            self._ended.set()
        elif not (call := self._calls.pop(message["id"])).done():  # done if a test waits no longer
            if "error" in message:
                call.set_exception(PeerError(message["error"]))
            else:
                call.set_result(message["result"])

    def lose(self) -> None:
        """Fail all calls that wait for the client, because its process has exited."""
        self._ended.set()
        for call in self._calls.values():
            if not call.done():
                call.set_exception(EOFError("the client has exited"))


@asynccontextmanager
async def running(command: Command) -> AsyncIterator[Program]:
    """Start the process in which a client runs."""
    program = Program(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=2**24))
    try:
        yield program
        await program.end()
    finally:
        await program.abort()
