"""What user code fails with since the base."""

from __future__ import annotations

from dataclasses import dataclass

UNPREDICTED = "User code fails, and no finding says why: this report is incomplete."


@dataclass(frozen=True)
class Failure:
    """A line of user code that a type checker accepts with the base's package and not with the head's.

    Attributes:
        file: its path in the repository.
        line: its number, from 1.
        source: the line.
        message: what the type checker says.
    """

    file: str
    line: int
    source: str
    message: str

    @property
    def sentence(self) -> str:
        """Where, and the message on one line."""
        return f"{self.file}:{self.line}: {' '.join(self.message.split())}"


@dataclass(frozen=True)
class UserCode:
    """User code as of the base that was checked with the head's package.

    Attributes:
        folder: where it is in the repository.
        files: how many files it has.
        failures: how many failures are new.
        unpredicted: those that no finding predicts. The others stand in the findings that do.
    """

    folder: str
    files: int
    failures: int
    unpredicted: tuple[Failure, ...]
