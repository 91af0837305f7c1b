"""Explains the errors of handlers that are not asynchronous, or take other arguments than they are called with."""

from __future__ import annotations

_HINT = (
    "Handlers are `async def` methods that take one argument, the request or the notification "
    "(`ext_request` and `ext_notification` take the name and the params)."
)


def explain_wrong_signature(error: BaseException) -> None:
    """Add a hint to a TypeError that calling or awaiting a handler raised, outside of the handler's own code."""
    place = error.__traceback__
    if type(error) is TypeError and place is not None and place.tb_next is None:
        error.add_note(_HINT)
