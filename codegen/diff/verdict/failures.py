"""Failures of user code with the head's package."""

from __future__ import annotations

from dataclasses import dataclass

UNPREDICTED = "User code fails type checking, and no finding predicts it: this report is incomplete."


@dataclass(frozen=True)
class Failure:
    """A line of user code that passes the type checker with the base's package and fails with the head's.

    Attributes:
        file: the path in the repository.
        line: the line number, from 1.
        source: the line itself, without indentation.
        message: the type checker's message.
    """

    file: str
    line: int
    source: str
    message: str

    @property
    def sentence(self) -> str:
        """The place and the message, on one line."""
        return f"{self.file}:{self.line}: {' '.join(self.message.split())}"


@dataclass(frozen=True)
class UserCode:
    """The result of checking the base's user code with the head's package.

    Attributes:
        folder: the folder of the user code, in the repository.
        files: the number of its files.
        failures: the number of failures that are new since the base.
        unpredicted: the failures that no finding predicts. The others are in their findings.
    """

    folder: str
    files: int
    failures: int
    unpredicted: tuple[Failure, ...]
