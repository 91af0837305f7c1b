"""The one place that turns exceptions into what goes on the wire (rules 12 and 13)."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import ValidationError

from acp_runtime.errors import InternalError, RemoteError, RequestCancelled, RequestError
from acp_runtime.escaping import printable
from acp_runtime.jsonrpc.encoding import dump, error_line
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.placeholders import original

# Of an answer to invalid params: how many errors it names, how long its parts get, and how much they are in all.
_MAX_ERRORS = 100
_MAX_TEXT = 200
_MAX_BYTES = 60_000
# How long it gets in one line, in characters.
_MAX_SUMMARY = 2000

# Messages of pydantic that repeat what they found.
_MESSAGES = {"union_tag_invalid": "Input should have one of the expected tags"}


def wire_error(error: BaseException, *, disclose: bool) -> RequestError:
    """What the peer is told about an exception in a handler.

    Args:
        error: what the handler raised.
        disclose: whether the text of an exception that isn't meant for the wire may go there.
    """
    if isinstance(error, RequestError) and not isinstance(error, RemoteError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return RequestCancelled()
    data = {"exception": type(error).__name__, "text": _text(error)} if disclose else None
    return InternalError(data=data)


def safe_error_line(id: RequestId, error: RequestError) -> bytes:
    """The line of an error, whatever is in it: what can't be serialised is left out."""
    try:
        return error_line(id, error if _is_sound(error) else InternalError())
    except (ValueError, TypeError, RecursionError):
        return error_line(_printable(id), InternalError())


def explain(error: ValidationError, prefix: int) -> dict[str, Any]:
    """The field paths and messages of a validation error, without any value, in at most 64 KiB.

    Args:
        error: what pydantic says.
        prefix: how many steps of each path are not the peer's.
    """
    faults = _faults(error)
    details: list[dict[str, str]] = []
    size = 0
    for steps, message in faults[:_MAX_ERRORS]:
        detail = {"path": _path(steps[prefix:]), "message": message[:_MAX_TEXT]}
        size += len(dump(detail))
        if size > _MAX_BYTES:
            break
        details.append(detail)
    return {"errors": details} if len(faults) == len(details) else {"errors": details, "count": len(faults)}


def summary(explained: dict[str, Any], whole: str) -> str:
    """What `explain` says, in one line. `whole` stands for an empty path."""
    faults = (f"{fault['path'] or whole}: {fault['message']}" for fault in explained["errors"])
    return printable("; ".join(faults), _MAX_SUMMARY)


def _faults(error: ValidationError) -> list[tuple[tuple[int | str, ...], str]]:
    """Paths and messages, each once."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return list(dict.fromkeys((each["loc"], _message(each)) for each in found))


def _path(steps: tuple[int | str, ...]) -> str:
    return ".".join(original(str(step))[:_MAX_TEXT] for step in steps)[:_MAX_TEXT]


def _is_sound(error: RequestError) -> bool:
    """Whether its code and message are what JSON-RPC wants; applications may have made them of anything."""
    code: Any = error.code
    message: Any = error.message
    return isinstance(code, int) and not isinstance(code, bool) and isinstance(message, str)


def _message(each: Any) -> str:
    return str(_MESSAGES.get(each["type"], each["msg"]))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _printable(id: RequestId) -> RequestId:
    try:
        dump(id)
    except (ValueError, TypeError):
        return None
    return id
