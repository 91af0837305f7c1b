"""The errors of the generator: what was found, where, and what to do next."""

from __future__ import annotations


class SchemaError(Exception):
    """The schema (or a data file about it) has something the generator has no rule for. Nothing was written.

    Args:
        pointer: JSON pointer of the place, below the file that `source` names.
        message: a sentence that says what was found there and what to do next.
    """

    def __init__(self, pointer: str, message: str, source: str = "") -> None:
        super().__init__(pointer, message, source)
        self.pointer = pointer
        self.message = message
        self.source = source

    def name_source(self, source: str) -> None:
        """Say which file it is about, unless it says so already."""
        self.source = self.source or source

    def __str__(self) -> str:
        place = f"{self.source}#{self.pointer}: " if self.source or self.pointer else ""
        return f"{place}{self.message}"


class FileError(SchemaError):
    """A file the generator needs is missing or isn't what it has to be. Nothing was written."""

    def name_source(self, source: str) -> None:
        """Its sentence names the file."""


class FetchError(Exception):
    """A source that no schema could be fetched from, as one sentence. Nothing was changed."""


class SourceError(Exception):
    """A side of a comparison that can't be read: one sentence that says which and why."""
