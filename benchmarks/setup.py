"""The settings that all rows share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.implementations import Implementations


@dataclass(frozen=True)
class Setup:
    """The settings of a run.

    Attributes:
        implementations: the implementations to measure.
        scale: multiplies the numbers of messages. The targets are meant for a scale of 1.
        folder: a folder for files that programs read.
    """

    implementations: Implementations
    scale: float
    folder: Path

    def scaled(self, count: int, *, least: int = 1) -> int:
        return max(least, round(count * self.scale))

    def file(self, name: str, make: Callable[[], bytes]) -> Path:
        """Return a file that programs read. It is created on first use."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make())
        return path
