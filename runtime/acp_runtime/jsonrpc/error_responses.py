"""The only place that turns exceptions into JSON-RPC errors (rules 12 and 13)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from pydantic import ValidationError

from acp_runtime.errors import InternalError, RemoteError, RequestCancelled, RequestError
from acp_runtime.escaping import printable
from acp_runtime.jsonrpc.encoding import error_line
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.strict_json import restore
from acp_runtime.models.errors import keep_intended

# Limits of a response to invalid params: the number of errors, and the characters of each text, of at most six bytes.
_MAX_ERRORS = 25
_MAX_TEXT = 200
# The length of a one-line summary, in characters.
_MAX_SUMMARY = 2000

# Replacements for pydantic's messages that quote the value.
_MESSAGES = {"union_tag_invalid": "Input should have one of the expected tags"}


def wire_error(error: BaseException, *, disclose: bool) -> RequestError:
    """Return the error that is sent to the peer when a handler raises.

    Args:
        error: the exception that the handler raised.
        disclose: whether the type and text of an exception other than `RequestError` may be sent.
    """
    if isinstance(error, RequestError) and not isinstance(error, RemoteError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return RequestCancelled()
    data = {"exception": type(error).__name__, "text": _text(error)} if disclose else None
    return InternalError(data=data)


def sole_error(error: BaseException) -> BaseException:
    """Return the only error in a group, as a task group raises it; otherwise the error itself.

    Groups may be nested. Cancellations beside the error don't count.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error
    group = cast("BaseExceptionGroup[BaseException]", error)
    rest = group.split(asyncio.CancelledError)[1]
    if rest is None:
        return asyncio.CancelledError()
    errors: Sequence[BaseException] = rest.exceptions
    sole = sole_error(errors[0]) if len(errors) == 1 else rest
    return group if isinstance(sole, BaseExceptionGroup) else sole


def safe_error_line(id: RequestId, error: RequestError, failed: Callable[[Exception], object] | None = None) -> bytes:
    """Encode an error response. Never raises: an error that can't be serialised becomes a plain internal error.

    Args:
        id: the id of the request.
        error: the error.
        failed: called with the reason if it can't be serialised.
    """
    try:
        return error_line(id, error)
    except (ValueError, TypeError, RecursionError) as reason:
        if failed is not None:
            failed(reason)
        return error_line(id, InternalError())


def explain(error: ValidationError, prefix: int) -> dict[str, Any]:
    """Return the field paths and messages of a validation error, without any values and duplicates, in 64 KiB.

    Args:
        error: the error that pydantic raised.
        prefix: how many leading steps of each path to drop, because they belong to our schema, not to the message.
    """
    errors = keep_intended(error.errors(include_input=False, include_url=False, include_context=False))
    faults = list(dict.fromkeys((fault["loc"], str(_MESSAGES.get(fault["type"], fault["msg"]))) for fault in errors))
    few = faults[:_MAX_ERRORS]
    details = [{"path": path_of(steps[prefix:]), "message": message[:_MAX_TEXT]} for steps, message in few]
    return {"errors": details} if len(faults) == len(details) else {"errors": details, "count": len(faults)}


def summary(explained: dict[str, Any], whole: str) -> str:
    """Return the result of `explain` as one line, with `whole` in place of an empty path."""
    faults = (f"{fault['path'] or whole}: {fault['message']}" for fault in explained["errors"])
    return printable("; ".join(faults), _MAX_SUMMARY)


def path_of(steps: tuple[int | str, ...]) -> str:
    """Return the path of an error as text."""
    return ".".join(restore(str(step))[:_MAX_TEXT] for step in steps)[:_MAX_TEXT]


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""
