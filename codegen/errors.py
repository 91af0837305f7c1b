"""The errors of the generator: what was found, where, and what to do next."""

from __future__ import annotations

import traceback
from pathlib import Path

_CODEGEN = Path(__file__).parent
# Where a schema is taken apart for all the others, who know what they look for.
_HELPER = _CODEGEN / "nodes.py"


class SchemaError(Exception):
    """The schema has something the generator has no rule for. Nothing was written.

    Args:
        pointer: JSON pointer of the place, below the file that `source` names.
        message: a sentence that says what was found there.
        source: the file.
        then: a sentence that says what to do next; if left out, to teach the module that found it.
    """

    def __init__(self, pointer: str, message: str, source: str = "", then: str = "") -> None:
        super().__init__(pointer, message, source)
        self.pointer = pointer
        self.message = message
        self.source = source
        self.then = then

    def name_source(self, source: str) -> None:
        """Say which file it is about, unless it says so already."""
        self.source = self.source or source

    def __str__(self) -> str:
        return f"{self._place}{self.message} {self.then or self._teach}"

    @property
    def _place(self) -> str:
        return f"{self.source}#{self.pointer}: " if self.source or self.pointer else ""

    @property
    def _teach(self) -> str:
        files = [Path(frame.filename) for frame in traceback.extract_tb(self.__traceback__)]
        own = [path.name for path in files if path.parent == _CODEGEN and path != _HELPER]
        where = f" (codegen/{own[-1]})" if own else ""
        return f"Teach codegen what it means{where} before regenerating."


class FileError(SchemaError):
    """A file the generator needs is missing or isn't what it has to be. Nothing was written."""

    def name_source(self, source: str) -> None:
        """Its sentence names the file."""

    def __str__(self) -> str:
        return f"{self._place}{self.message}"


class FetchError(Exception):
    """A source that no schema could be fetched from, as one sentence. Nothing was changed."""


class SourceError(Exception):
    """A side of a comparison that can't be read: one sentence that says which and why."""
