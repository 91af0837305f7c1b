"""Verdicts: how bad a change is, on five axes that have nothing to do with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Verdict(IntEnum):
    """How bad it is. They are in order: the worst is the greatest."""

    SAFE = 0
    RISKY = 1
    BREAKING = 2

    @property
    def word(self) -> str:
        return self.name.lower()


SAFE, RISKY, BREAKING = Verdict.SAFE, Verdict.RISKY, Verdict.BREAKING
_LETTERS = {"S": SAFE, "R": RISKY, "B": BREAKING}

# What each axis asks. The first two are about JSON between peers of both versions, the others about Python code that
# moves from the old bindings to the new ones.
AXES = {
    "old_peer": "an old peer reads what a new one sends",
    "new_peer": "a new peer reads what an old one sends",
    "build": "Python code that builds it",
    "read": "Python code that reads it",
    "implement": "Python code that implements the method",
}
TITLES = {
    "old_peer": "wire, old peer",
    "new_peer": "wire, new peer",
    "build": "python, build",
    "read": "python, read",
    "implement": "python, implement",
}


@dataclass(frozen=True)
class Verdicts:
    """One verdict an axis."""

    old_peer: Verdict = SAFE
    new_peer: Verdict = SAFE
    build: Verdict = SAFE
    read: Verdict = SAFE
    implement: Verdict = SAFE

    @classmethod
    def of(cls, letters: str) -> Verdicts:
        """Five letters, in the order of the axes: B, R or S."""
        return cls(*(_LETTERS[letter] for letter in letters))

    @property
    def letters(self) -> str:
        return "".join(verdict.name[0] for verdict in self.values)

    @property
    def values(self) -> tuple[Verdict, ...]:
        return self.old_peer, self.new_peer, self.build, self.read, self.implement

    @property
    def worst(self) -> Verdict:
        return max(self.values)

    def by_axis(self) -> dict[str, Verdict]:
        return dict(zip(AXES, self.values, strict=True))

    def wire(self, old_peer: Verdict, new_peer: Verdict) -> Verdicts:
        return replace(self, old_peer=old_peer, new_peer=new_peer)

    def softened(self, *, old_peer: bool, new_peer: bool) -> Verdicts:
        """What breaks on the wire is only risky where the reader lets a bad value give way."""
        return self.wire(
            min(self.old_peer, RISKY) if old_peer else self.old_peer,
            min(self.new_peer, RISKY) if new_peer else self.new_peer,
        )


def breaks(condition: bool) -> Verdict:
    return BREAKING if condition else SAFE


def risks(condition: bool) -> Verdict:
    return RISKY if condition else SAFE
