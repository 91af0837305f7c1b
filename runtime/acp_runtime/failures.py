"""The one place that turns exceptions into what goes on the wire (rules 12 and 13)."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from acp_runtime.encoding import error_line
from acp_runtime.errors import InternalError, RequestCancelled, RequestError
from acp_runtime.messages import RequestId

# Of an answer to invalid params: how many errors it names, how long its parts get, and how much they are in all.
_MAX_ERRORS = 100
_MAX_TEXT = 200
_MAX_BYTES = 60_000

# Messages of pydantic that repeat what they found.
_MESSAGES = {"union_tag_invalid": "Input should have one of the expected tags"}


def wire_error(error: BaseException, *, disclose: bool) -> RequestError:
    """What the peer is told about an exception in a handler.

    Args:
        error: what the handler raised.
        disclose: whether the text of an exception that isn't meant for the wire may go there.
    """
    if isinstance(error, RequestError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return RequestCancelled()
    data = {"exception": type(error).__name__, "text": str(error)} if disclose else None
    return InternalError(data=data)


def error_answer(id: RequestId, error: RequestError) -> bytes:
    """The line of an error, whatever is in it: what can't be serialised is left out."""
    try:
        return error_line(id, error)
    except (ValueError, TypeError, RecursionError):
        return error_line(_printable(id), InternalError())


def explain(error: ValidationError, prefix: int) -> dict[str, Any]:
    """The field paths and messages of a validation error, without any value, in at most 64 KiB.

    Args:
        error: what pydantic says.
        prefix: how many steps of each path are not the peer's.
    """
    details: list[dict[str, str]] = []
    size = 0
    for each in error.errors(include_input=False, include_url=False, include_context=False)[:_MAX_ERRORS]:
        path = ".".join(str(step)[:_MAX_TEXT] for step in each["loc"][prefix:])[:_MAX_TEXT]
        detail = {"path": path, "message": _MESSAGES.get(each["type"], each["msg"])[:_MAX_TEXT]}
        size += len(to_json(detail))
        if size > _MAX_BYTES:
            break
        details.append(detail)
    count = error.error_count()
    return {"errors": details} if count == len(details) else {"errors": details, "count": count}


def _printable(id: RequestId) -> RequestId:
    try:
        to_json(id)
    except (ValueError, TypeError):
        return None
    return id
