"""Replaces a folder repeatedly, interrupted by a signal one step later each time, until it succeeds.

A program of its own, because it forks. A step is an audit event: a file is opened, a folder is renamed, and so on. The
arguments are a working folder, the number of calls that exchanging two folders takes (1 or 2), and the names of the
signals: the first is sent at the step, the others at the steps after it. For each run, the program prints a JSON object
with the files afterwards, and those after another run without interruption.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import count
from pathlib import Path

from codegen.files.folders import replace_folder
from codegen.signals import catch_signals

OLD, NEW = {"a": b"old", "sub/b": b"old"}, {"a": b"new", "c": b"new", "more/d": b"new"}


def _interrupt_at(step: int, signals: list[str]) -> None:
    """Send the signals to this process, the first at the audit event with this number."""
    left = [step]

    def interrupt(event: str, arguments: tuple[object, ...]) -> None:
        if event not in ("os.kill", "signal.pthread_kill") and signals:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), getattr(signal, signals.pop(0)))

    sys.addaudithook(interrupt)


def _files(folder: Path) -> dict[str, str]:
    """Return the text of each file below a folder, and "/" for each empty folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else "/"
        for path in sorted(folder.rglob("*"))
        if path.is_file() or not any(path.iterdir())
    }


def _replace(outside: Path, files: dict[str, bytes], step: int = 0, signals: list[str] | None = None) -> int:
    """Replace the package in a child process, and return its exit code."""
    child = os.fork()
    if not child:
        catch_signals()
        try:
            if step:
                _interrupt_at(step, list(signals or []))
            replace_folder(outside / "package", files, outside=outside)
            os._exit(0)
        except BaseException as error:  # as the interpreter does at the end of a program
            sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(root: Path, signals: list[str]) -> None:
    outside = root / "generated"
    for step in count(1):
        assert _replace(outside, OLD) == 0
        code = _replace(outside, NEW, step, signals)
        found, around = _files(outside), sorted(path.name for path in root.iterdir())
        assert _replace(outside, NEW) == 0
        after = sorted(path.name for path in root.iterdir())
        sys.stdout.write(json.dumps({"code": code, "found": found, "around": around, "after": after}) + "\n")
        sys.stdout.flush()
        if code == 0:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes background commands ignore SIGINT
    if sys.argv[2] == "2":
        sys.platform = "a platform that can't exchange folders in one call"
    main(Path(sys.argv[1]), sys.argv[3:])
