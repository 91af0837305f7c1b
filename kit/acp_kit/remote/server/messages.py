"""What a server has to know of a message to route it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from acp_runtime.jsonrpc import parse


@dataclass(frozen=True)
class Message:
    """A message in either direction.

    Attributes:
        line: its JSON, without newlines.
        method: its method; None for an answer.
        id: the JSON of its id; None if it has none that is a string or an integer.
        session: the session that its params name; empty if they name none.
        is_error: whether it is an answer with an error.
    """

    line: bytes
    method: str | None
    id: str | None
    session: str
    is_error: bool


class Batch(ValueError):
    """A batch of messages, which ACP doesn't have."""


def read_message(data: bytes) -> Message:
    """Read a message.

    Raises:
        Batch: It is an array.
        ValueError: It is not a JSON object.
    """
    value: Any = parse(data)
    if isinstance(value, list):
        raise Batch("ACP has no batches: send each message in a request of its own.")
    if not isinstance(value, dict):
        raise ValueError("A message is a JSON object.")
    message = cast("dict[str, Any]", value)
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    session = cast("dict[str, Any]", params).get("sessionId") if isinstance(params, dict) else None
    return Message(
        # Inside JSON, newlines are only between tokens.
        line=data.replace(b"\n", b" ").replace(b"\r", b" "),
        method=method if isinstance(method, str) else None,
        id=json.dumps(id) if isinstance(id, (str, int)) else None,
        session=session if isinstance(session, str) else "",
        is_error="error" in message,
    )
