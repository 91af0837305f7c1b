"""The program under test, from the other side of its connection."""

from __future__ import annotations

import asyncio
import json
from asyncio import FIRST_COMPLETED
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from time import time
from typing import Any, ClassVar, Literal, TypeAlias, cast

from acp_bindings.v1 import connecting as v1
from acp_bindings.v2_draft import connecting as v2_draft
from acp_kit.common.json_values import messages_in
from acp_kit.recording.file_format import OPPOSITE, Direction, WireLine
from acp_kit.testing.processes import MAX_LINE_BYTES
from acp_runtime.jsonrpc import check_line

Json: TypeAlias = "dict[str, Any]"
Version: TypeAlias = Literal[1, 2]
INFO = {"name": "acp-bindings", "version": "1"}
MAX_LINES = 100_000
"""How many lines of a program are read in one scenario."""
PROMPT = "Say hello, please: ça va? 👋"


class Violation(Exception):
    """The program doesn't follow the rule of the scenario."""


class Skipped(Exception):
    """The scenario can't be played with this program."""


class Peer:
    """The program under test. Methods that wait raise `Violation` at the deadline, or when the program disconnects.

    Attributes:
        name: what it is: the client, the agent.
        direction: the direction of its lines.
        version: the version of the protocol.
        deadline: how long one step may take, in seconds.
        quiet_time: how long to wait to see that nothing is sent, in seconds.
        entries: all lines so far.
        messages: its messages so far: its lines that are JSON objects.
        process: its process. Set when it is started.
    """

    name: ClassVar[str]
    direction: ClassVar[Direction]
    process: Process

    def __init__(self, version: Version, deadline: float, quiet_time: float) -> None:
        self.version: Version = version
        self.deadline = deadline
        self.quiet_time = quiet_time
        self.entries: list[WireLine] = []
        self.messages: list[Json] = []
        self._writer: asyncio.StreamWriter | None = None
        # Requests and notifications by method, responses by id.
        self._unread: defaultdict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)
        # How it disconnected, in words.
        self._disconnected: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read its messages, until it closes its side."""
        self._writer = writer
        with suppress(OSError):  # it was killed
            self._note_disconnection(await self._read(reader))
        self._note_disconnection("closed the connection")
        writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> str:
        """Read messages. Return why reading ended."""
        for _ in range(MAX_LINES):
            try:
                line = await reader.readline()
            except ValueError:
                return f"wrote a line of more than {MAX_LINE_BYTES} bytes"
            if not line:
                return "closed the connection"
            self.entries.append(WireLine(time(), self.direction, line.removesuffix(b"\n")))
            for message in parse(line):
                self.messages.append(message)
                self._receive(message)
        return f"wrote more than {MAX_LINES} lines"

    def send(self, *messages: Json | bytes) -> None:
        """Send messages, or any bytes, with one write."""
        lines = [message if isinstance(message, bytes) else encode(message) for message in messages]
        self.entries.extend(WireLine(time(), OPPOSITE[self.direction], line.removesuffix(b"\n")) for line in lines)
        assert self._writer is not None
        self._writer.write(b"".join(lines))

    async def receive(self, method: str) -> Json:
        """Wait for its next request or notification with this method."""
        return await self._wait(method, method)

    async def response_to(self, request: Json) -> Json:
        """Wait for the response to a request."""
        id = json.dumps(request["id"])
        return await self._wait(id, f"the answer to {request['method']} with the id {id}")

    async def request(self, request: Json) -> Json:
        """Send a request, and wait for its response."""
        self.send(request)
        return await self.response_to(request)

    def question(self, id: str | int) -> Json:
        """Return a request that every such program answers."""
        raise NotImplementedError

    async def ask(self, question: Json) -> Json:
        """Send a question, and check its response."""
        return await self.request(question)

    async def wait_for_disconnection(self) -> None:
        """Wait until it has closed the connection or exited."""
        await asyncio.wait({self._disconnected}, timeout=self.deadline)
        if not self._disconnected.done():
            raise Violation(f"waited {self.deadline:g} seconds for the {self.name} to close the connection")

    @property
    def has_disconnected(self) -> bool:
        """Whether it has closed the connection or exited."""
        return self._disconnected.done()

    def methods(self) -> list[str]:
        """Return the methods of its requests and notifications."""
        return [message["method"] for message in self.messages if "method" in message]

    def params(self, method: str) -> Any:
        """Return the params of its first message with this method, or None."""
        return next((message.get("params") for message in self.messages if message.get("method") == method), None)

    def check_lines(self, *, noise: bool = True) -> None:
        """Check that all its lines are valid messages, and that each response answers a request, only once.

        Without `noise`, lines that aren't JSON are left out.
        """
        profile = v1 if self.version == 1 else v2_draft
        receiver = profile.AGENT_SIDE if self.direction == "c2a" else profile.CLIENT_SIDE
        pending: defaultdict[str, list[str]] = defaultdict(list)
        for entry in self.entries:
            messages = parse(entry.data)
            if entry.direction != self.direction:
                for request in messages:
                    if "method" in request:
                        pending[json.dumps(request.get("id"))].append(request["method"])
            elif messages or noise:
                calls = [_call_of(message, pending) for message in messages if "method" not in message]
                fault = check_line(receiver, entry.data, calls[0] if calls else "").fault
                titles = [message.get("method", "a response") for message in messages]
                if fault:
                    raise Violation(": ".join(["a line is not valid", *titles, fault]))

    @contextmanager
    def checking_lines(self) -> Generator[None]:
        """Check all lines at the end of a block. An invalid line is the reason even if the block fails."""
        try:
            yield
        except Violation:
            self.check_lines()
            raise
        self.check_lines()

    def _receive(self, message: Json) -> None:
        """Keep a message until the scenario waits for it."""
        self._unread[key_of(message)].put_nowait(message)

    def _note_disconnection(self, how: str) -> None:
        if not self._disconnected.done():
            self._disconnected.set_result(how)

    async def _wait(self, key: str, awaited: str) -> Json:
        message = asyncio.ensure_future(self._unread[key].get())
        try:
            await asyncio.wait({message, self._disconnected}, timeout=self.deadline, return_when=FIRST_COMPLETED)
        finally:
            has_come = not message.cancel()
        if has_come:
            return message.result()
        if self._disconnected.done():
            raise Violation(f"the {self.name} {self._disconnected.result()} before {awaited}")
        raise Violation(f"waited {self.deadline:g} seconds for {awaited}")


def _call_of(response: Json, pending: dict[str, list[str]]) -> str:
    """Return the method that a response answers, which is pending no longer; empty if it has no id."""
    if response.get("id") is None:
        return ""
    id = json.dumps(response["id"])
    if not pending[id]:
        raise Violation(f"a response has the id {id[:80]}, but no request with this id is pending")
    return pending[id].pop(0)


def key_of(message: Json) -> str:
    """Return the method of a message, or the id of a response."""
    return message["method"] if "method" in message else json.dumps(message.get("id"))


def with_keys(value: Any, keys: Json) -> Any:
    """Return JSON in which each object has further keys."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [with_keys(item, keys) for item in items]
    if isinstance(value, dict):
        return {**{key: with_keys(item, keys) for key, item in cast("Json", value).items()}, **keys}
    return value


def short(answer: Json) -> str:
    """Return the error or the result of a response as a short text."""
    return json.dumps(answer.get("error") or answer.get("result"), ensure_ascii=False)[:200]


def encode(message: Json) -> bytes:
    """Return a message as a line."""
    # The program's ids and texts may have lone surrogates. The handler escapes them as JSON does.
    line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
    return line.encode(errors="backslashreplace") + b"\n"


def parse(line: bytes) -> list[Json]:
    """Return the messages in a line: one, or the items of an array in version 2; none if it isn't JSON.

    Leaves out messages whose method isn't a text, or whose id is a list or an object: it may be nested deeply.
    """
    try:
        messages = messages_in(json.loads(line))
    except (ValueError, RecursionError):
        return []
    return [
        message
        for message in messages
        if isinstance(message.get("method", ""), str) and not isinstance(message.get("id"), (list, dict))
    ]
