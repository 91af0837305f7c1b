"""The errors of the generator. Each message says what is wrong, where, and what to do next."""

from __future__ import annotations

import traceback
from pathlib import Path

_CODEGEN = Path(__file__).parent
# Raises errors on behalf of the readers, so it is never the file that lacks a rule.
_NODES = _CODEGEN / "nodes.py"
# The next step if no rule could help.
REPORT = "The schema is invalid: report it upstream."


class SchemaError(Exception):
    """The generator has no rule for something in the schema. Nothing was written.

    Args:
        pointer: JSON pointer into the file.
        message: a sentence that says what is wrong.
        source: the file's name.
        next_step: a sentence that says what to do. By default: add a rule to the module that raised the error, or
            report the mistake upstream.

    Attributes:
        exit_code: the command's exit code.
        profile: the profile of the schema; empty if the error isn't about a single profile.
    """

    exit_code = 1

    def __init__(self, pointer: str, message: str, source: str = "", next_step: str = "") -> None:
        super().__init__(pointer, message, source)
        self.pointer = pointer
        self.message = message
        self.source = source
        self.next_step = next_step
        self.profile = ""

    def name_source(self, source: str) -> None:
        """Set the file's name, unless it is known."""
        self.source = self.source or source

    def __str__(self) -> str:
        return f"{self._place}{self.message} {self.next_step or self._default_next_step()}"

    @property
    def _place(self) -> str:
        return f"{self.source}#{self.pointer}: " if self.source or self.pointer else ""

    def _default_next_step(self) -> str:
        files = [Path(frame.filename) for frame in traceback.extract_tb(self.__traceback__)]
        readers = [path for path in files if path.is_relative_to(_CODEGEN) and path != _NODES]
        module = f"codegen/{readers[-1].relative_to(_CODEGEN).as_posix()}" if readers else "codegen"
        return f"Add a rule for it to {module} and run the command again, or report it upstream if it is a mistake."


class FileError(SchemaError):
    """A file that the generator needs is missing or invalid. Nothing was written."""

    exit_code = 2

    def name_source(self, source: str) -> None:
        """Do nothing: the message names the file."""

    def __str__(self) -> str:
        return f"{self._place}{self.message}"


class FetchError(Exception):
    """The source has no schema, or can't be read. Nothing was changed."""

    exit_code = 2


class SourceError(Exception):
    """A side of a comparison can't be read. The message says which side, and why."""

    exit_code = 2


class OutputError(Exception):
    """Output can't be written. The message is empty if the reader of stdout has closed it."""

    exit_code = 2
