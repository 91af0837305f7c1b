"""A client written with another SDK, in a subprocess, that a test tells what to do.

Its last argument is the command that starts the agent, as JSON. A line to it is one of

* `{"id", "call", "params"}` and `{"id", "notify", "params"}`: what to send to the agent;
* `{"id", "give_up"}`: the method whose last call the client no longer waits for;
* `{"id", "answers"}`: how to answer what the agent asks from now on, by method: `{"result"}`, `{"error"}`, `{"crash"}`,
  or `{"cancelled"}`, a result that is not given before the session was cancelled.

A line from it is one of

* `{"id", "result"}` and `{"id", "error"}`;
* `{"event", "params"}` for everything that the agent sends;
* `{"exit"}`: the exit code of the agent, at the end.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.interop.reuse import reused

Command = list[str]

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("script.json").read_text("utf-8"))
OUR_AGENT = Path(__file__).with_name("peers") / "our_agent.py"
ANSWERS: dict[str, Any] = {
    "session/request_permission": {"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}},
    "fs/read_text_file": {"result": {"content": "second line\n"}},
    "fs/write_text_file": {"result": {}},
    "terminal/create": {"result": {"terminalId": "t-1"}},
    "terminal/output": {"result": {"output": "making\n", "truncated": True}},
    "terminal/kill": {"result": {}},
    "terminal/wait_for_exit": {"result": {"signal": "SIGKILL"}},
    "terminal/release": {"result": {}},
    "elicitation/create": {
        "result": {"action": "accept", "content": {"name": "Ada", "age": 36, "sure": True}},
    },
    "_interop/ask": {"result": {"asked": True}},
}
_END_SECONDS = 60


class PeerError(Exception):
    """The error that a call of their client raised there."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.error = error
        self.code = error["code"]


class TheirClient:
    """The other end of their client's stdin and stdout.

    Attributes:
        events: everything that the agent sent, as method and params.
        agent_exit_code: of the agent that their client has started; None while it runs.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._ids = itertools.count()
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._news = asyncio.Event()
        self.events: list[tuple[str, Any]] = []
        self.agent_exit_code: int | None = None
        self._reading = asyncio.create_task(self._read())

    async def initialize(self, version: int = 1) -> Any:
        about = {"clientCapabilities": SCRIPT["clientCapabilities"], "clientInfo": SCRIPT["clientInfo"]}
        return await self.call("initialize", {"protocolVersion": version, **about})

    async def prompt(self, text: str, **block: Any) -> Any:
        params = {"sessionId": "new", "prompt": [{"type": "text", "text": text, **block}]}
        return await self.call("session/prompt", params)

    async def call(self, method: str, params: Any) -> Any:
        """The result of a request to the agent, as their client sees it. Raises PeerError if it sees an error."""
        return await self._send({"call": method, "params": params})

    async def notify(self, method: str, params: Any) -> None:
        await self._send({"notify": method, "params": params})

    async def give_up(self, method: str) -> None:
        """Cancel the last call of a method."""
        await self._send({"give_up": method})

    async def until(self, what: str) -> None:
        """Wait for a text of the agent's, or a request by its method."""
        while what not in [*self.texts(), *(method for method, _ in self.events)]:
            self._news.clear()
            await self._news.wait()

    def updates(self) -> list[Any]:
        return [params["update"] for method, params in self.events if method == "session/update"]

    def asked(self) -> list[tuple[str, Any]]:
        """The requests of the agent."""
        return [(method, params) for method, params in self.events if method in ANSWERS]

    def texts(self) -> list[str]:
        """What the agent has said."""
        return [each["content"]["text"] for each in self.updates() if each["sessionUpdate"] == "agent_message_chunk"]

    async def end(self) -> None:
        """Let their client go, and with it the agent."""
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

    async def answer(self, changed: dict[str, Any]) -> None:
        """Answer as `ANSWERS` says, but for what is changed."""
        await self._send({"answers": {**ANSWERS, **changed}})

    async def _send(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        id = next(self._ids)
        self._calls[id] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps({"id": id, **order}).encode() + b"\n")
        return await self._calls[id]

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            message = json.loads(line)
            if "event" in message:
                self.events.append((message["event"], message["params"]))
                self._news.set()
            elif "exit" in message:
                self.agent_exit_code = message["exit"]
            elif "error" in message:
                self._calls.pop(message["id"]).set_exception(PeerError(message["error"]))
            else:
                self._calls.pop(message["id"]).set_result(message["result"])
        for call in self._calls.values():
            call.set_exception(EOFError("their client has ended"))


@asynccontextmanager
async def connected(command: Command, *flags: str) -> AsyncIterator[TheirClient]:
    """Their client of our agent, before `initialize`.

    Args:
        command: starts their client.
        flags: of our agent.
    """
    agent = json.dumps([sys.executable, str(OUR_AGENT), *flags])
    process = await asyncio.create_subprocess_exec(*command, agent, stdin=PIPE, stdout=PIPE, limit=2**24)
    client = TheirClient(process)
    try:
        yield client
        await client.end()
    finally:
        await client.abort()


@asynccontextmanager
async def in_session(command: Command, answers: dict[str, Any] | None = None) -> AsyncIterator[TheirClient]:
    """Their client of our agent, with a session that is called `new`; kept for the next test.

    Args:
        command: starts their client.
        answers: by method, where they differ from `ANSWERS`.
    """
    async with reused(command, lambda: started(command)) as client:
        client.events.clear()
        await client.answer(answers or {})
        yield client


@asynccontextmanager
async def started(command: Command) -> AsyncIterator[TheirClient]:
    """Their client of our agent, with a session that is called `new`."""
    async with connected(command) as client:
        await client.initialize()
        session = await client.call("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert session["sessionId"] == "new"
        yield client
