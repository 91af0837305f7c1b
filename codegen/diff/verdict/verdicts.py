"""Verdicts say how bad a change is, on five independent axes. Reports are sorted by severity."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Verdict(IntEnum):
    """How bad a change is. The worst verdict is the greatest."""

    SAFE = 0
    RISKY = 1
    BREAKING = 2

    @property
    def word(self) -> str:
        return self.name.lower()


SAFE, RISKY, BREAKING = Verdict

# The axes, with their titles in reports. The first two are about JSON between peers of different versions, the others
# about Python code that moves from the old bindings to the new ones.
AXES = {
    "old_peer": "old peers reading new messages",
    "new_peer": "new peers reading old messages",
    "build": "Python code that builds it",
    "read": "Python code that reads it",
    "implement": "Python code that implements the method",
}


class Verdicts(NamedTuple):
    """A verdict for each axis."""

    old_peer: Verdict = SAFE
    new_peer: Verdict = SAFE
    build: Verdict = SAFE
    read: Verdict = SAFE
    implement: Verdict = SAFE

    @classmethod
    def of(cls, letters: str) -> Verdicts:
        """Return the verdicts for five letters, B, R or S, in the order of the axes."""
        return cls(*(Verdict("SRB".index(letter)) for letter in letters))

    def with_wire(self, old_peer: Verdict, new_peer: Verdict) -> Verdicts:
        return self._replace(old_peer=old_peer, new_peer=new_peer)

    def joined(self, other: Verdicts) -> Verdicts:
        """Return the worse verdict on each axis."""
        return Verdicts(*map(max, self, other))

    def with_old_name_kept(self) -> Verdicts:
        """Return the verdicts if Python code can still use a definition's old name."""
        return self._replace(build=SAFE, read=SAFE)

    def gated(self, gate: str, old_gate: str = "") -> Verdicts:
        """Return the verdicts of a part of messages that requires a new capability, or required a removed one.

        Peers that don't advertise the capability never get the part: old peers a new one, new peers a removed one.
        """
        gated = self._replace(old_peer=SAFE) if gate else self
        return gated._replace(new_peer=SAFE) if old_gate else gated

    def at_level(self, level: Verdict) -> Verdicts:
        """Return the verdicts lowered to a level, or with this level on the axes where they are worst."""
        worst = max(self)
        return Verdicts(*(level if verdict is worst else min(verdict, level) for verdict in self))

    def softened(self, *, old_peer: bool, new_peer: bool) -> Verdicts:
        """Return the verdicts, at most risky for each kind of peer that tolerates invalid values."""
        limits = (RISKY if tolerates else BREAKING for tolerates in (old_peer, new_peer))
        return self.with_wire(*map(min, self, limits))


def breaks(condition: bool) -> Verdict:
    return BREAKING if condition else SAFE


def risks(condition: bool) -> Verdict:
    return RISKY if condition else SAFE


class Severity(IntEnum):
    """How bad a finding is, the worst last.

    Every peer exchanges `initialize` and the JSON-RPC envelope, and must implement the baseline methods.
    """

    SAFE = 0
    RISKY = 1
    PYTHON = 2
    WIRE = 3
    BASELINE = 4
    EVERY_PEER = 5

    @property
    def word(self) -> str:
        return self.name.lower().replace("_", " ")

    @property
    def title(self) -> str:
        return _TITLES[self]


_TITLES = (
    "Safe",
    "Risky",
    "Breaks only Python code",
    "Breaks messages of other methods",
    "Breaks messages of baseline methods",
    "Breaks messages that every peer exchanges",
)
