"""Writes to stdout, and words the errors that don't come from the schema: the system's, and bugs in codegen."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path

_HOME = Path(__file__).parent.parent
TRACEBACK = "CODEGEN_TRACEBACK"

_NEXT_STEPS = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Free some space",
    errno.EFBIG: "Raise the limit on file sizes (`ulimit -f`)",
    errno.EMFILE: "Raise the limit on open files (`ulimit -n`)",
    errno.ENFILE: "Close some programs",
    errno.EACCES: "Change its permissions, or choose another folder",
    errno.EPERM: "Change its permissions, or choose another folder",
    errno.EROFS: "Choose a writable folder",
    errno.ENOENT: "Check the path",
    errno.ENOTDIR: "Give the path of a folder",
    errno.EISDIR: "Give the path of a file",
    errno.EEXIST: "Move it out of the way",
}


class OutputError(Exception):
    """Stdout can't be written. The message is empty if the reader has closed it."""

    exit_code = 2


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
    """Return a sentence for an error of the operating system: the path, the reason, and what to do."""
    where = error.filename2 or error.filename
    place = f"{os.fsdecode(where)}: " if isinstance(where, (str, bytes)) else ""
    reason = error.strerror or str(error) or type(error).__name__
    next_step = _NEXT_STEPS.get(error.errno or 0, "Correct this")
    return f"{place}{reason}. Nothing was changed. {next_step}, then run the command again."


def internal_error_message(error: Exception) -> str:
    """Return a sentence for a bug in codegen, with the file and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if Path(each.filename).is_relative_to(_HOME / "codegen")] or frames
    where = f"{_shown(Path(own[-1].filename))}:{own[-1].lineno}" if own else "codegen"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"This is a bug in codegen ({where}: {reason}). Nothing was changed. "
        f"Please report it with the output of the same command under {TRACEBACK}=1."
    )


def _shown(path: Path) -> str:
    return path.relative_to(_HOME).as_posix() if path.is_relative_to(_HOME) else path.name
