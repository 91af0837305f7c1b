"""Reads the fields of messages that both sides need to route them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

from acp_kit.common.json_values import members_of, messages_in
from acp_runtime.jsonrpc import memory_of, parse

ENDS_SESSION = ("session/close", "session/delete")
_INTERNAL_ERROR = -32603
_MAX_MEMORY = 320 * 1024 * 1024  # bytes of a parsed message of an agent; enough for a text of 64 MiB


class Message(NamedTuple):
    """The fields of a message.

    Attributes:
        id: its id as JSON; None if it isn't a string or an integer.
        method: its method; None for a response.
        session: the session id in its params or its result; empty if there is none.
        version: the version of the protocol in its result; None if there is none.
        is_error: whether it is a response with an error.
    """

    id: str | None
    method: str | None
    session: str
    version: int | None
    is_error: bool


class Batch(ValueError):
    """A batch of messages, which the transport over HTTP does not take."""


def read_message(data: bytes) -> Message:
    """Read a message.

    Raises:
        Batch: if it is an array.
        ValueError: if it is not a JSON object.
    """
    value = parse(data)
    if isinstance(value, list):
        raise Batch("Over HTTP, ACP has no batches: send each message in a request of its own.")
    if not isinstance(value, dict):
        raise ValueError("A message is a JSON object.")
    return _message(cast("dict[str, Any]", value))


def read_messages(line: bytes) -> list[Message]:
    """Read the messages of a line: one, a batch, or none if it is something else."""
    try:
        value = parse(line)
    except ValueError:
        return []
    return [*map(_message, messages_in(value))]


def check_memory(message: bytes) -> bytes:
    """Return a message, unless it would take too much memory: parsed JSON may take a hundred times its bytes.

    Raises:
        ValueError: if it would take more than 320 MiB.
    """
    if len(message) > _MAX_MEMORY >> 10 and memory_of(message) > _MAX_MEMORY:
        raise ValueError("The agent sent a message that takes too much memory.")
    return message


def error_response(id: str, text: str, data: dict[str, Any]) -> bytes:
    """Return a line that answers a request with an error. The id is JSON."""
    error = json.dumps({"code": _INTERNAL_ERROR, "message": text, "data": data})
    return f'{{"jsonrpc": "2.0", "id": {id}, "error": {error}}}\n'.encode()


def _message(value: dict[str, Any]) -> Message:
    id = value.get("id")
    method = value.get("method")
    fields = members_of(value.get("params" if "method" in value else "result"))
    session = fields.get("sessionId")
    version = fields.get("protocolVersion")
    return Message(
        id=json.dumps(id) if type(id) in (str, int) else None,
        method=method if isinstance(method, str) else None,
        session=session if isinstance(session, str) else "",
        version=version if type(version) is int else None,
        is_error="error" in value,
    )
