"""Writes to stdout, and words the errors that don't come from the schema: the system's, and bugs in codegen."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from codegen.errors import OutputError

_HOME = Path(__file__).parent.parent
TRACEBACK = "CODEGEN_TRACEBACK"


def write_output(text: str) -> None:
    """Write a text to stdout and flush it.

    Raises:
        OutputError: stdout can't be written.
    """
    if sys.stdout is None or not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python would write the buffered rest again at exit, fail, and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = "" if isinstance(error, BrokenPipeError) else f"Stdout can't be written: {error.strerror}."
        raise OutputError(message) from error


def system_error_message(error: OSError) -> str:
    """Return sentences for an error of the operating system: the path and the reason, and what to do."""
    where = error.filename2 or error.filename
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{place}{reason}. Nothing was changed. Correct this, then run the command again."


def internal_error_message(error: Exception) -> str:
    """Return a sentence for a bug in codegen, with the file and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    *_, last = (each for each in frames if Path(each.filename).is_relative_to(_HOME / "codegen"))
    where = f"{Path(last.filename).relative_to(_HOME).as_posix()}:{last.lineno}"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"This is a bug in codegen ({where}: {reason}). Nothing was changed. "
        f"Please report it with the output of the same command under {TRACEBACK}=1."
    )
