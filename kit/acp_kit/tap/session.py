"""A session in a recording."""

from __future__ import annotations

from dataclasses import dataclass, field

from acp_kit.tap.row import Row
from acp_kit.updates.timeline import Timeline


@dataclass(eq=False)
class RecordedSession:
    """A session, since it was created or loaded.

    Attributes:
        id: its id; "" for what belongs to no session.
        replay: the call that loads it.
        turn: its newest turn.
        cancel_line: the line of the notification that cancels that turn; 0 if there is none.
        timeline: its updates.
        rows: the rows of messages and tool calls, by their positions in the timeline, and of other updates, by tag and
            turn. In version 2, the rows of messages, tool calls and plans, by kind and id.
        tool_rows: the rows of the tool calls since the end of the last turn, by their positions.
    """

    id: str
    replay: Row | None = None
    turn: Row | None = None
    cancel_line: int = 0
    timeline: Timeline = field(default_factory=Timeline)
    rows: dict[object, Row] = field(default_factory=dict[object, Row])
    tool_rows: dict[int, Row] = field(default_factory=dict[int, Row])

    @property
    def running_turn(self) -> Row | None:
        """The turn that runs."""
        return self.turn if self.turn is not None and self.turn.is_open else None

    @property
    def is_replaying(self) -> bool:
        """Whether it is being loaded."""
        return self.replay is not None and self.replay.is_open
