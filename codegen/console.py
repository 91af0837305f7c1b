"""Failures that are nobody's fault in the schema, as one sentence: the system's, the output's, and codegen's own."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path

_HOME = Path(__file__).parent.parent
TRACEBACK = "CODEGEN_TRACEBACK"

_NEXT = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Free some space",
    errno.EFBIG: "Raise the limit for the size of a file (`ulimit -f`)",
    errno.EMFILE: "Raise the limit for open files (`ulimit -n`)",
    errno.ENFILE: "Close some programs",
    errno.EACCES: "Change its permissions, or choose another folder",
    errno.EPERM: "Change its permissions, or choose another folder",
    errno.EROFS: "Choose a folder that can be written to",
    errno.ENOENT: "Put it there",
    errno.ENOTDIR: "Give a folder",
    errno.EISDIR: "Give a file",
    errno.EEXIST: "Move it out of the way",
}


class OutputError(Exception):
    """What there is to say can't be written to stdout: a sentence, or nothing if nobody reads it."""


def write_output(text: str) -> None:
    """Write to stdout, all of it.

    Raises:
        OutputError: it can't be written.
    """
    if sys.stdout is None or not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer would be tried again when the process ends, and fail without a sentence.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = "" if isinstance(error, BrokenPipeError) else f"The output can't be written: {error.strerror}."
        raise OutputError(message) from error


def system_error_message(error: OSError) -> str:
    """What the system refused, where, and what to do next."""
    where = error.filename2 or error.filename
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    what = error.strerror or str(error) or type(error).__name__
    return f"{place}{what}. Nothing was changed. {_NEXT.get(error.errno or 0, 'See to that')}, then run it again."


def internal_error_message(error: Exception) -> str:
    """A mistake in codegen itself, and where it shows."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if Path(each.filename).is_relative_to(_HOME / "codegen")] or frames
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "codegen"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"This is a mistake in codegen ({where}: {what}). Nothing was changed. Please report it, "
        f"with what it prints when {TRACEBACK}=1 is set."
    )
