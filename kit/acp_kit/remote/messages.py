"""What both sides of a connection have to know of a message to route it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

from acp_runtime.jsonrpc import memory_of, parse

ENDS_SESSION = ("session/close", "session/delete")
_INTERNAL_ERROR = -32603
_MAX_MEMORY = 320 * 1024 * 1024  # bytes that a message of an agent may take once it is read; a text of 64 MiB fits


class Message(NamedTuple):
    """A message.

    Attributes:
        id: the JSON of its id; None if it has none that is a string or an integer.
        method: its method; None for an answer.
        session: the session that its params or its result name; empty if they name none.
        version: the version of the protocol that its result names.
        is_error: whether it is an answer with an error.
    """

    id: str | None
    method: str | None
    session: str
    version: int | None
    is_error: bool


class Batch(ValueError):
    """A batch of messages, which ACP doesn't have."""


def read_message(data: bytes) -> Message:
    """Read a message.

    Raises:
        Batch: It is an array.
        ValueError: It is not a JSON object.
    """
    value = parse(data)
    if isinstance(value, list):
        raise Batch("ACP has no batches: send each message in a request of its own.")
    if not isinstance(value, dict):
        raise ValueError("A message is a JSON object.")
    return _message(cast("dict[str, Any]", value))


def read_messages(line: bytes) -> list[Message]:
    """Read a line: one message, those of a batch, or none if it is something else."""
    try:
        value = parse(line)
    except ValueError:
        return []
    batch = cast("list[object]", value) if isinstance(value, list) else [value]
    return [_message(cast("dict[str, Any]", item)) for item in batch if isinstance(item, dict)]


def check_memory(message: bytes) -> bytes:
    """Return a message. Raise ValueError if it would take too much memory: JSON can take a hundred times its bytes."""
    if len(message) > _MAX_MEMORY >> 10 and memory_of(message) > _MAX_MEMORY:
        raise ValueError("The agent sent a message that takes too much memory.")
    return message


def error_answer(id: str, text: str, data: dict[str, Any]) -> bytes:
    """Return a line that answers a request with an error. The id is JSON."""
    error = json.dumps({"code": _INTERNAL_ERROR, "message": text, "data": data})
    return f'{{"jsonrpc": "2.0", "id": {id}, "error": {error}}}\n'.encode()


def _message(value: dict[str, Any]) -> Message:
    id, method, content = value.get("id"), value.get("method"), value.get("params" if "method" in value else "result")
    facts = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    session, version = facts.get("sessionId"), facts.get("protocolVersion")
    return Message(
        json.dumps(id) if type(id) in (str, int) else None,
        method if isinstance(method, str) else None,
        session if isinstance(session, str) else "",
        version if type(version) is int else None,
        "error" in value,
    )
