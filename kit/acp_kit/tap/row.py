"""The rows in which a recording is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from acp_kit.recording.file_format import Direction, Recorded

Kind = Literal["turn", "call", "notification", "message", "tool", "state", "text"]


@dataclass(eq=False)
class Row:
    """A call with its response, a notification, several merged updates, or text that isn't a message.

    Attributes:
        kind: "turn" is a call, too. "message", "tool" and "state" are merged updates.
        direction: the direction of its first line.
        method: the method; "" if there is none.
        title: a summary.
        session: the id of its session; "" if it has none.
        turn: the number of the turn in its session; 0 outside turns.
        is_replay: whether it belongs to the replay of earlier turns.
        lines: the numbers of its lines in the recording. The second line of a call is the response.
        start: the time of its first line, in seconds since 1970; None if it wasn't recorded.
        end: the time of its last line.
        outcome: how it ended.
        is_error: whether the response is an error.
        problems: its problems, each with the number of the line.
    """

    kind: Kind
    direction: Direction
    method: str = ""
    title: str = ""
    session: str = ""
    turn: int = 0
    is_replay: bool = False
    lines: list[int] = field(default_factory=list[int])
    start: float | None = None
    end: float | None = None
    outcome: str = ""
    is_error: bool = False
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, recorded: Recorded) -> None:
        """Add a line of the recording."""
        if not self.lines:
            self.start = recorded.time
        self.end = recorded.time
        self.lines.append(recorded.number)

    @property
    def is_open(self) -> bool:
        """Whether it is a call without a response so far."""
        return self.kind in ("turn", "call") and len(self.lines) < 2

    @property
    def is_update(self) -> bool:
        """Whether it consists of updates."""
        return self.kind in ("message", "tool", "state")

    @property
    def is_wrong(self) -> bool:
        """Whether there is a problem, or the response is an error."""
        return bool(self.problems) or self.is_error
