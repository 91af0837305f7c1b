"""The exceptions that end a tool call or a turn."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from typing import cast


class Rejected(Exception):
    """The user rejected a tool call.

    `ToolCall.ask` raises it. The block of the tool call ends it, so the code after the block goes on; there,
    `ToolCall.rejected` is True.

    Attributes:
        option_id: the id of the option that the user chose; None if an earlier choice was remembered.
        tool_call_id: the id of the tool call. Without one, the innermost block of a tool call ends it.
    """

    def __init__(self, title: str, option_id: str | None = None, tool_call_id: str | None = None) -> None:
        super().__init__(f"The user rejected {title!r}")
        self.option_id = option_id
        self.tool_call_id = tool_call_id


class TurnCancelled(Exception):
    """The user closed a permission dialog without an answer, which cancels the turn.

    The block of the turn ends it, and the turn's response then says `cancelled`. If it is caught earlier, the next call
    of the turn raises it again.
    """

    def __init__(self) -> None:
        super().__init__("The user cancelled the turn")


def reason_of(error: BaseException) -> str:
    """Return the reason to show for an error, or for the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, Rejected):
        return "Rejected by the user"
    if isinstance(error, (TurnCancelled, CancelledError)):
        return "Cancelled"
    return str(error) or type(error).__name__


def is_only(error: BaseException | None, condition: Callable[[BaseException], bool]) -> bool:
    """Whether an error meets a condition, or is a group of errors that all do, as a task group raises it."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(is_only(member, condition) for member in group.exceptions)
    return error is not None and condition(error)
