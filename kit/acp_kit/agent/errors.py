"""The exceptions that end a tool call or a turn."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from typing import cast


class Rejected(Exception):
    """The user rejected a tool call.

    `ToolCall.ask` raises it, and the block of the tool call suppresses it. After the block, `ToolCall.rejected` is
    True.

    Attributes:
        option_id: the id of the option that the user chose; None if an earlier choice was remembered.
        tool_call_id: the id of the tool call, whose block suppresses the exception. If it is None, the innermost block
            of a tool call does.
    """

    def __init__(self, title: str, option_id: str | None = None, tool_call_id: str | None = None) -> None:
        super().__init__(f"The user rejected {title!r}")
        self.option_id = option_id
        self.tool_call_id = tool_call_id


class TurnCancelled(Exception):
    """The user closed a permission dialog without an answer, which cancels the turn.

    The block of the turn suppresses it, and the turn's response says `cancelled`. If it is caught earlier, the next
    method of the turn that sends something raises it again.
    """

    def __init__(self) -> None:
        super().__init__("The user cancelled the turn")


def reason_of(error: BaseException) -> str:
    """Return the reason to show for an error. For a group, it is the reason of its first error, cancellations last."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = (group.split(CancelledError)[1] or group).exceptions[0]
    if isinstance(error, Rejected):
        return "Rejected by the user"
    if isinstance(error, (TurnCancelled, CancelledError)):
        return "Cancelled"
    return str(error) or type(error).__name__


def all_errors(error: BaseException | None, condition: Callable[[BaseException], bool]) -> bool:
    """Whether an error meets a condition. For a group of errors, as a task group raises it, whether all of them do.

    Cancellations in a group don't count.
    """
    if isinstance(error, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", error).split(CancelledError)[1]
        return errors is not None and all(all_errors(member, condition) for member in errors.exceptions)
    return error is not None and condition(error)
