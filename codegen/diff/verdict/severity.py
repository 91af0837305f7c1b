"""How bad a finding is for its readers. Reports are in this order, the worst first."""

from __future__ import annotations

from enum import IntEnum


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


_TITLES = {
    Severity.SAFE: "Safe",
    Severity.RISKY: "Risky",
    Severity.PYTHON: "Breaks only Python code",
    Severity.WIRE: "Breaks messages of other methods",
    Severity.BASELINE: "Breaks messages of baseline methods",
    Severity.EVERY_PEER: "Breaks messages that every peer exchanges",
}
