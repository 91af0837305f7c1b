"""What a message says about where it belongs: its id, its method, its session."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeAlias, cast

from acp_runtime.jsonrpc import parse

Id: TypeAlias = int | str

_INTERNAL_ERROR = -32603


class Message(NamedTuple):
    """A message.

    Attributes:
        id: of a request or an answer.
        method: of a request or a notification.
        session: the id of the session that its params or its result names.
        version: the version of the protocol that its result names.
        is_error: whether it answers with an error.
    """

    id: Id | None
    method: str | None
    session: str | None
    version: int | None
    is_error: bool


def read_messages(line: bytes) -> list[Message]:
    """Read a line: one message, those of a batch, or none if it is something else."""
    try:
        value = parse(line)
    except ValueError:
        return []
    batch = cast("list[object]", value) if isinstance(value, list) else [value]
    return [_message(each) for each in map(_object, batch) if each]


def error_answer(id: Id, text: str, data: dict[str, Any]) -> bytes:
    """Return a line that answers a request with an error."""
    error = {"code": _INTERNAL_ERROR, "message": text, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode() + b"\n"


def _message(value: dict[str, Any]) -> Message:
    id, method = value.get("id"), value.get("method")
    content = _object(value.get("params" if "method" in value else "result"))
    session, version = content.get("sessionId"), content.get("protocolVersion")
    return Message(
        id if isinstance(id, (int, str)) and not isinstance(id, bool) else None,
        method if isinstance(method, str) else None,
        session if isinstance(session, str) else None,
        version if isinstance(version, int) and not isinstance(version, bool) else None,
        "error" in value,
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
