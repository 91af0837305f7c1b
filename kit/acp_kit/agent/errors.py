"""The exceptions that end a tool call or a turn."""

from __future__ import annotations


class Rejected(Exception):
    """The user rejected a tool call.

    `ToolCall.ask` raises it. The block of the tool call ends it, so the code after the block goes on; there,
    `ToolCall.rejected` is True.

    Attributes:
        option_id: the id of the option that the user chose; None if an earlier choice was remembered.
    """

    def __init__(self, title: str, option_id: str | None = None) -> None:
        super().__init__(f"The user rejected {title!r}")
        self.option_id = option_id


class TurnCancelled(Exception):
    """The user closed a permission dialog without an answer, which cancels the turn.

    The block of the turn ends it, and the turn's response then says `cancelled`. If it is caught earlier, the next call
    of the turn raises it again.
    """

    def __init__(self) -> None:
        super().__init__("The user cancelled the turn")
