"""The client under test, from the side of its agent."""

from __future__ import annotations

import asyncio
import json
from asyncio import FIRST_COMPLETED
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import time
from typing import Any, TypeAlias, cast

from acp_kit.recording.file_format import WireLine
from acp_kit.testing import relay
from acp_kit.testing.subprocesses import signal_group

Json: TypeAlias = "dict[str, Any]"
SESSION = "session-1"
PROMPT = "Say hello, please: ça va? 👋"
_STEPS = ("initialize", "session/new", "session/prompt")
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


class Violation(Exception):
    """The client doesn't follow the rule of the scenario."""


class Skipped(Exception):
    """The scenario can't be played with this client."""


@dataclass(frozen=True)
class Command:
    """How to start and use the client.

    Attributes:
        arguments: the command. In each argument, `{agent}` is replaced by the path of a program that is the agent, and
            `{prompt}` by a text.
        stdin: a line to type into its stdin at the start, in which `{prompt}` is replaced; None for nothing.
        answer: a line to type when the agent asks for permission; None for nothing.
        deadline: how long one step of a scenario may take, in seconds.
        quiet: how long to wait to see that the client sends nothing, in seconds.
        by_hand: whether a person uses it. Then it has this terminal, and stays open.
    """

    arguments: Sequence[str]
    stdin: str | None = None
    answer: str | None = None
    deadline: float = 10.0
    quiet: float = 1.0
    by_hand: bool = False


class Client:
    """The client under test. Methods that wait raise `Violation` at the deadline, or when the client disconnects.

    Attributes:
        command: how it was started.
        entries: all lines so far.
        messages: the messages of the client so far: its lines that are JSON objects.
        results: the results with which its requests are answered immediately, by method. Without one, `initialize`,
            `session/new` and `session/prompt` wait for the scenario, and other requests get an error.
        process: its process. The caller sets it after starting it.
    """

    process: Process

    def __init__(self, command: Command) -> None:
        self.command = command
        self.entries: list[WireLine] = []
        self.messages: list[Json] = []
        self.results: dict[str, Json] = {
            "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
            "session/new": {"sessionId": SESSION},
        }
        self._writer: asyncio.StreamWriter | None = None
        # Requests and notifications by method, responses by id.
        self._unread: defaultdict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)
        # How it disconnected, in words.
        self._disconnected: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the client's messages, until it closes its side."""
        if self._writer is not None:  # the client has started a second agent, which does nothing
            writer.close()
            return
        self._writer = writer
        with suppress(OSError, ValueError):  # it was killed, or a line is too long
            async for line in reader:
                self.entries.append(WireLine(time(), "c2a", line.removesuffix(b"\n")))
                if message := parse(line):
                    self._receive(message)
        self._note_disconnection("closed the connection")
        writer.close()

    async def watch(self) -> None:
        """Wait until the process ends, and note whether it has started its agent."""
        code = await self.process.wait()
        if self._writer is None:
            self._note_disconnection(f"ended with exit code {code} and started no agent")

    def params(self, method: str) -> Any:
        """Return the params of its first message with this method, or None."""
        return next((message.get("params") for message in self.messages if message.get("method") == method), None)

    def methods(self) -> list[str]:
        """Return the methods of its requests and notifications."""
        return [str(message["method"]) for message in self.messages if "method" in message]

    def send(self, *messages: Json | bytes) -> None:
        """Send messages, or any bytes, with one write."""
        lines = [message if isinstance(message, bytes) else encode(message) for message in messages]
        self.entries.extend(WireLine(time(), "a2c", line.removesuffix(b"\n")) for line in lines)
        assert self._writer is not None
        self._writer.write(b"".join(lines))
        if self.command.answer is not None and any(b"/request_permission" in line for line in lines):
            asyncio.get_running_loop().call_later(self.command.quiet / 4, self.type, self.command.answer)

    def type(self, line: str) -> None:
        """Type a line into its stdin."""
        if self.process.stdin:
            self.process.stdin.write(f"{line}\n".encode())

    def interrupt(self) -> None:
        """Do what Ctrl-C does in a terminal."""
        if not self.command.by_hand:
            signal_group(self.process, "SIGINT")

    def end_agent(self) -> None:
        """End the agent's process with exit code 1."""
        if self._writer is not None:
            self._writer.write(relay.END + b"1")
            self._writer.close()

    async def receive(self, method: str) -> Json:
        """Wait for the next request or notification with this method."""
        return await self._wait(method, method)

    async def response_to(self, request: Json) -> Json:
        """Wait for the response to a request of the agent."""
        id = json.dumps(request["id"])
        return await self._wait(id, f"the answer to {request['method']} with the id {id}")

    async def request(self, request: Json) -> Json:
        """Send a request, and wait for its response."""
        self.send(request)
        return await self.response_to(request)

    async def end_turn(self, prompt: Json, *after: Json) -> None:
        """Answer a prompt, send other messages after the response, and check that the client exits with 0."""
        self.send({"id": prompt.get("id"), "result": {"stopReason": "end_turn"}}, *after)
        if code := await self.wait_for_exit():
            raise Violation(f"the client ended with exit code {code}")

    async def wait_for_exit(self) -> int:
        """Wait until the client exits, and return its exit code. If it stays open, check that it still answers."""
        self.results["session/prompt"] = {"stopReason": "end_turn"}
        if self.command.by_hand:
            await self.request({"id": "end", "method": "_acp_bindings/are_you_there", "params": {}})
            return 0
        if self.process.stdin:
            self.process.stdin.close()
        try:
            return await asyncio.wait_for(self.process.wait(), self.command.deadline)
        except TimeoutError:
            raise Violation(f"waited {self.command.deadline:g} seconds for the client to exit") from None

    async def wait_for_disconnection(self) -> None:
        """Wait until the client has closed the connection or exited."""
        await asyncio.wait({self._disconnected}, timeout=self.command.deadline)
        if not self._disconnected.done():
            raise Violation(f"waited {self.command.deadline:g} seconds for the client to close the connection")

    async def _wait(self, key: str, awaited: str) -> Json:
        message = asyncio.ensure_future(self._unread[key].get())
        try:
            await asyncio.wait(
                {message, self._disconnected}, timeout=self.command.deadline, return_when=FIRST_COMPLETED
            )
        finally:
            has_come = not message.cancel()
        if has_come:
            return message.result()
        if self._disconnected.done():
            raise Violation(f"the client {self._disconnected.result()} before {awaited}")
        raise Violation(f"waited {self.command.deadline:g} seconds for {awaited}")

    def _note_disconnection(self, how: str) -> None:
        if not self._disconnected.done():
            self._disconnected.set_result(how)

    def _receive(self, message: Json) -> None:
        self.messages.append(message)
        id, method = json.dumps(message.get("id")), str(message.get("method"))
        if "id" in message and method in self.results:
            self.send({"id": message["id"], "result": self.results[method]})
        elif "id" in message and "method" in message and method not in _STEPS:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            self._unread[method if "method" in message else id].put_nowait(message)


def permission(id: int | str, kinds: Sequence[str] = KINDS, session: str = SESSION) -> Json:
    """Return a request for permission to edit a file. The id of each option is `my-` and its kind."""
    options = [{"optionId": f"my-{kind}", "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
    call = {"toolCallId": f"call-{id}", "title": "Edit a.txt", "kind": "edit", "status": "pending"}
    params = {"sessionId": session, "toolCall": call, "options": options}
    return {"id": id, "method": "session/request_permission", "params": params}


def member(value: Any, *keys: str) -> Any:
    """Return a member of nested objects; None if it is missing, or a value on the way isn't an object."""
    for key in keys:
        value = cast("Json", value).get(key) if isinstance(value, dict) else None
    return value


def encode(message: Json) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def parse(line: bytes) -> Json | None:
    """Return the message in a line; None if it isn't a JSON object."""
    try:
        message: Any = json.loads(line)
    except ValueError:
        return None
    return cast("Json", message) if isinstance(message, dict) else None
