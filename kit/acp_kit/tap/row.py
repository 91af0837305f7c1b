"""What is shown of a recording: rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from acp_kit.recording.file_format import Direction, Recorded

Kind = Literal["turn", "call", "notification", "message", "tool", "state", "text"]


@dataclass(eq=False)
class Row:
    """A call with its answer, a notification, the result of several updates, or text that isn't a message.

    Attributes:
        kind: "turn" is a call, too. "message", "tool" and "state" are made of updates.
        direction: who sent its first line.
        method: the method; "" if there is none.
        title: what it is about.
        session: the session it belongs to; "" if to none.
        turn: the number of the turn of its session; 0 outside of turns.
        is_replay: whether it belongs to the replay of earlier turns.
        lines: which lines of the recording it is made of. The second one of a call is the answer.
        start: the time of its first line, in seconds since 1970; None if it wasn't recorded.
        end: the time of its last line.
        outcome: how it ended.
        is_error: whether the answer is an error.
        problems: what is wrong: the line, and a sentence.
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
        self.start, self.end = (self.start if self.lines else recorded.time), recorded.time
        self.lines.append(recorded.number)

    @property
    def is_open(self) -> bool:
        """Whether it is a call without an answer so far."""
        return self.kind in ("turn", "call") and len(self.lines) < 2

    @property
    def is_update(self) -> bool:
        """Whether it is made of updates."""
        return self.kind in ("message", "tool", "state")

    @property
    def is_wrong(self) -> bool:
        """Whether there is a problem, or the answer is an error."""
        return bool(self.problems) or self.is_error
