"""What rows are made with: who takes part, how much of everything, and a folder for files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.implementations import Implementations


@dataclass(frozen=True)
class Setup:
    """How to measure.

    Attributes:
        implementations: who takes part.
        scale: what the numbers of messages are multiplied with; 1 measures what the table says.
        folder: for files that programs read.
    """

    implementations: Implementations
    scale: float
    folder: Path

    def scaled(self, count: int, *, least: int = 1) -> int:
        return max(least, round(count * self.scale))

    def file(self, name: str, make: Callable[[], bytes]) -> Path:
        """A file that programs read, made when it is first needed."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make())
        return path
