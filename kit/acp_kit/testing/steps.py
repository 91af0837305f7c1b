"""Steps for scripts, some of which violate the protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias
from uuid import uuid4

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_runtime import current_request
from acp_runtime.transports import Transport

Step: TypeAlias = "str | v1.SessionUpdate | Exception | Callable[[Turn], Awaitable[object]]"
Exit: TypeAlias = Callable[[int], Awaitable[object]]


class Wire:
    """The agent's transport, on which steps can violate the protocol.

    Attributes:
        exit: ends the agent, with an exit code.
        replacements: functions to call instead of sending a line, by its method, or for a response by its id.
    """

    def __init__(self, transport: Transport, exit: Exit) -> None:
        self._transport = transport
        self.exit = exit
        self.replacements: dict[Any, Callable[[bytes], Awaitable[object]]] = {}

    async def receive(self) -> bytes:
        """Receive bytes, as the transport does."""
        return await self._transport.receive()

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()

    async def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        await self._transport.send(data)

    async def send(self, data: bytes, /) -> None:
        """Send messages."""
        for line in data.splitlines(keepends=True):
            message = json.loads(line)
            key = message["method"] if "method" in message else message["id"]
            send = self.replacements.pop(key, self.write)
            await send(line)


async def wait(turn: Turn) -> None:
    """Wait until the client cancels the turn, and answer `cancelled`."""
    await asyncio.Event().wait()


async def ignore_cancel(turn: Turn) -> None:
    """Wait until the client cancels the turn, and continue. The response violates the protocol: it says `end_turn`."""
    wire, id = _wire_of(turn)
    answer = {"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}}
    wire.replacements[id] = lambda line: wire.write(json.dumps(answer).encode() + b"\n")
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


def slow(text: str, seconds: float = 0.05) -> Step:
    """Say a text word by word, with a pause after each word, in seconds."""

    async def step(turn: Turn) -> None:
        for word in re.findall(r"\s*\S+\s*", text):
            await turn.say(word)
            await asyncio.sleep(seconds)

    return step


def die(code: int = 1) -> Step:
    """Exit without a response, with the exit code. In the client's process, only the connection ends."""

    async def step(turn: Turn) -> None:
        await _on_wire(turn, lambda wire: wire.exit(code))
        await asyncio.Event().wait()

    return step


def garbage(data: bytes = b"npm warn deprecated\n") -> Step:
    """Write bytes between the messages."""

    async def step(turn: Turn) -> None:
        await _on_wire(turn, lambda wire: wire.write(data))

    return step


def late(text: str) -> Step:
    """Say a text after the response, which violates the protocol."""

    async def step(turn: Turn) -> None:
        wire, id = _wire_of(turn)
        update = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text))
        params = v1.SessionNotification(session_id=turn.session.id, update=update).model_dump_json()
        message = f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}\n'
        wire.replacements[id] = lambda line: wire.write(line + message.encode())

    return step


def reuse_id(tool_call_id: str = "call-1") -> Step:
    """Report two tool calls, one after the other, with the same id."""

    async def step(turn: Turn) -> None:
        for title in ("First", "Second"):
            await turn.send(v1.SessionUpdateToolCall(tool_call_id=tool_call_id, title=title, status="in_progress"))
            await turn.send(v1.SessionUpdateToolCallUpdate(tool_call_id=tool_call_id, status="completed"))

    return step


def _wire_of(turn: Turn) -> tuple[Wire, Any]:
    """Return the agent's wire, and the id of the prompt."""
    agent: Any = turn.session.client.handler
    request: Any = current_request()
    return agent.wire, request.id


async def _on_wire(turn: Turn, act: Callable[[Wire], Awaitable[object]]) -> None:
    """Call a function with the wire, after everything that was sent before.

    It replaces a notification, because messages are sent in order.
    """
    wire, _ = _wire_of(turn)
    method = f"_acp_kit/{uuid4()}"
    wire.replacements[method] = lambda line: act(wire)
    await turn.session.client.ext_notification(method)
