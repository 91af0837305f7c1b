"""Ready steps for a `ScriptedAgent`: what agents do to their clients."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.testing import wire
from acp_runtime import current_request

_Step = Callable[[Turn], Awaitable[object]]


async def wait(turn: Turn) -> None:
    """Wait until the client cancels the turn, which is answered with `cancelled`."""
    await asyncio.Event().wait()


async def ignore_cancel(turn: Turn) -> None:
    """Wait until the client cancels the turn, and go on. The answer says `end_turn`, which the protocol forbids."""
    client, id = _wire(turn)
    answer = {"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}}
    await wire.write(client, json.dumps(answer).encode() + b"\n", answer_to=id, keep=False)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return


def stop(reason: v1.StopReason) -> _Step:
    """Let the answer have another stop reason than `end_turn`."""

    async def step(turn: Turn) -> None:
        turn.stop_reason = reason

    return _named(step, f"stop({reason!r})")


def slow(text: str, seconds: float = 0.05) -> _Step:
    """Say a text word by word, with a pause behind each."""

    async def step(turn: Turn) -> None:
        for word in re.findall(r"\s*\S+\s*", text):
            await turn.say(word)
            await asyncio.sleep(seconds)

    return _named(step, f"slow({text!r})")


def die(code: int = 1) -> _Step:
    """End without an answer. In one process with the client the connection ends; else the process, with the code."""

    async def step(turn: Turn) -> None:
        await wire.leave(_wire(turn)[0], code)
        await asyncio.Event().wait()

    return _named(step, f"die({code})")


def garbage(data: bytes = b"npm warn deprecated\n") -> _Step:
    """Write bytes between the messages."""

    async def step(turn: Turn) -> None:
        await wire.write(_wire(turn)[0], data)

    return _named(step, f"garbage({data!r})")


def late(text: str) -> _Step:
    """Say something behind the answer, which the protocol forbids."""

    async def step(turn: Turn) -> None:
        client, id = _wire(turn)
        update = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text))
        notification = v1.SessionNotification(session_id=turn.session.id, update=update)
        message = f'{{"jsonrpc":"2.0","method":"session/update","params":{notification.model_dump_json()}}}\n'
        await wire.write(client, message.encode(), answer_to=id)

    return _named(step, f"late({text!r})")


def reuse_id(tool_call_id: str = "call-1") -> _Step:
    """Report two tool calls, one after the other, with the same id."""

    async def step(turn: Turn) -> None:
        for title in ("First", "Second"):
            await turn.send(v1.SessionUpdateToolCall(tool_call_id=tool_call_id, title=title, status="in_progress"))
            await turn.send(v1.SessionUpdateToolCallUpdate(tool_call_id=tool_call_id, status="completed"))

    return _named(step, f"reuse_id({tool_call_id!r})")


def _wire(turn: Turn) -> tuple[v1.RemoteClient, Any]:
    """Return the client, over a wire on which a step can do anything, and the id of the prompt."""
    client, request = turn.session.client, current_request()
    if request is None or not getattr(client.handler, "has_wire", False):
        raise RuntimeError("This step needs the agent's wire: use `acp_kit.testing.connect`, or `acp-bindings agent`.")
    return client, request.id


def _named(step: _Step, name: str) -> _Step:
    step.__qualname__ = name
    return step
