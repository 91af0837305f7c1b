"""The client under test, as its agent sees it."""

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

from acp_kit.recording.file_format import Direction
from acp_kit.testing import relay
from acp_kit.testing.processes import signal_group

Json: TypeAlias = "dict[str, Any]"
SESSION = "session-1"
PROMPT = "Say hello, please: ça va? 👋"
_STEPS = ("initialize", "session/new", "session/prompt")
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


class Unmet(Exception):
    """The client doesn't do what the scenario asks for."""


class NotTried(Exception):
    """The scenario can't be tried with this client."""


@dataclass(frozen=True)
class Command:
    """How the client is started, and used.

    Attributes:
        arguments: the command. In each argument, `{agent}` becomes the path of a program that is the agent, and
            `{prompt}` a text.
        stdin: a line that is typed into its stdin at the start, with `{prompt}`; None for nothing.
        answer: a line that is typed when the agent asks for permission; None for nothing.
        deadline: the seconds that one step of a scenario may take.
        quiet: for how many seconds a scenario listens to a client that should send nothing.
        by_hand: whether a person uses it: it has this terminal, and stays open.
    """

    arguments: Sequence[str]
    stdin: str | None = None
    answer: str | None = None
    deadline: float = 10.0
    quiet: float = 1.0
    by_hand: bool = False


class Client:
    """The client under test. What waits raises `Unmet` at the deadline, or when the client leaves.

    Attributes:
        command: how it was started.
        entries: all lines so far, with time and direction.
        messages: what the client has sent, as far as it is JSON objects.
        results: what its requests are answered with at once, by method. Those that begin the steps of a conversation
            wait for the scenario if they are not here; others get an error.
        process: its process, set by the caller after starting it.
    """

    process: Process

    def __init__(self, command: Command) -> None:
        self.command = command
        self.entries: list[tuple[float, Direction, bytes]] = []
        self.messages: list[Json] = []
        self.results: dict[str, Json] = {
            "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
            "session/new": {"sessionId": SESSION},
        }
        self._writer: asyncio.StreamWriter | None = None
        # By method, and answers by id.
        self._unread: defaultdict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)
        self._left: asyncio.Future[Any] = asyncio.get_running_loop().create_future()  # how, in words

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what the client sends, until it closes its side."""
        if self._writer is not None:  # it has started a second agent, which does nothing
            writer.close()
            return
        self._writer = writer
        with suppress(OSError, ValueError):  # it was killed, or its line is too long
            async for line in reader:
                self.entries.append((time(), "c2a", line.removesuffix(b"\n")))
                if message := parse(line):
                    self._receive(message)
        self._note_left("closed the connection")
        writer.close()

    async def watch(self) -> None:
        """Wait until the process ends, and note if it has not started its agent."""
        code = await self.process.wait()
        if self._writer is None:
            self._note_left(f"ended with exit code {code} and started no agent")

    def params(self, method: str) -> Any:
        """Return the params of its first message with a method, or None."""
        return next((message.get("params") for message in self.messages if message.get("method") == method), None)

    def methods(self) -> list[str]:
        """Return the methods that it has called, and its notifications."""
        return [str(message["method"]) for message in self.messages if "method" in message]

    def send(self, *messages: Json | bytes) -> None:
        """Send messages, or any bytes, in one piece."""
        lines = [message if isinstance(message, bytes) else encode(message) for message in messages]
        self.entries.extend((time(), "a2c", line.removesuffix(b"\n")) for line in lines)
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

    def leave(self) -> None:
        """End the agent's process with exit code 1."""
        if self._writer is not None:
            self._writer.write(relay.END + b"1")
            self._writer.close()

    async def receive(self, method: str) -> Json:
        """Wait for the next message with a method."""
        return await self._wait(method, method)

    async def answer(self, request: Json) -> Json:
        """Wait for the answer to a request of the agent."""
        id = json.dumps(request["id"])
        return await self._wait(id, f"the answer to {request['method']} with the id {id}")

    async def ask(self, request: Json) -> Json:
        """Send a request, and wait for its answer."""
        self.send(request)
        return await self.answer(request)

    async def end_turn(self, prompt: Json, *after: Json) -> None:
        """Answer a prompt, send other messages after it, and see that the client goes on."""
        self.send({"id": prompt.get("id"), "result": {"stopReason": "end_turn"}}, *after)
        if code := await self.see_end():
            raise Unmet(f"the client ended with exit code {code}")

    async def see_end(self) -> int:
        """See that the client exits, or if it stays open, that it still answers. Return its exit code."""
        self.results["session/prompt"] = {"stopReason": "end_turn"}
        if self.command.by_hand:
            await self.ask({"id": "end", "method": "_acp_bindings/are_you_there", "params": {}})
            return 0
        if self.process.stdin:
            self.process.stdin.close()
        try:
            return await asyncio.wait_for(self.process.wait(), self.command.deadline)
        except TimeoutError:
            raise Unmet(f"waited {self.command.deadline:g} seconds for the client to exit") from None

    async def see_left(self) -> None:
        """Wait until the client has closed the connection, or has exited."""
        await asyncio.wait({self._left}, timeout=self.command.deadline)
        if not self._left.done():
            raise Unmet(f"waited {self.command.deadline:g} seconds for the client to close the connection")

    async def _wait(self, key: str, what: str) -> Json:
        getting = asyncio.ensure_future(self._unread[key].get())
        try:
            await asyncio.wait({getting, self._left}, timeout=self.command.deadline, return_when=FIRST_COMPLETED)
        finally:
            is_here = not getting.cancel()
        if is_here:
            return getting.result()
        if self._left.done():
            raise Unmet(f"the client {self._left.result()} before {what}")
        raise Unmet(f"waited {self.command.deadline:g} seconds for {what}")

    def _note_left(self, how: str) -> None:
        if not self._left.done():
            self._left.set_result(how)

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
    """Return a request for permission to edit a file. The id of an option is `my-` and its kind."""
    options = [{"optionId": f"my-{kind}", "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
    call = {"toolCallId": f"call-{id}", "title": "Edit a.txt", "kind": "edit", "status": "pending"}
    params = {"sessionId": session, "toolCall": call, "options": options}
    return {"id": id, "method": "session/request_permission", "params": params}


def dig(value: Any, *keys: str) -> Any:
    """Return what is inside of objects, whatever a client has sent; None if it isn't there."""
    for key in keys:
        value = cast("Json", value).get(key) if isinstance(value, dict) else None
    return value


def encode(message: Json) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def parse(line: bytes) -> Json | None:
    """Return the message in a line; None if it is no JSON object."""
    try:
        message: Any = json.loads(line)
    except ValueError:
        return None
    return cast("Json", message) if isinstance(message, dict) else None
