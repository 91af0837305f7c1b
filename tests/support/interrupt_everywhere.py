"""Replaces a folder repeatedly, interrupted by a signal one step later each time, until it succeeds.

A program of its own, because it forks. A step is an audit event: a file is opened, a folder is renamed, and so on. The
arguments are a working folder, what to replace, and the names of the signals: the first is sent at the step, the others
at the steps after it. What to replace is "all", for two folders and a file, or one folder: 1 or 2 is the number of
calls that exchanging it takes. For each run, the program prints a JSON object with the files afterwards, and those
after another run without interruption.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from codegen.files.folders import replace_folder
from codegen.files.replacing import Replacement, replace_all
from codegen.signals import catch_signals
from tests.support import scale

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


def _replace(replace: Callable[[dict[str, bytes]], None], files: dict[str, bytes], step: int = 0, *signals: str) -> int:
    """Replace the files in a child process, and return its exit code."""
    child = os.fork()
    if not child:
        catch_signals()
        try:
            if step:
                _interrupt_at(step, list(signals))
            replace(files)
            os._exit(0)
        except BaseException as error:  # as the interpreter does at the end of a program
            sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _replace_one(root: Path, files: dict[str, bytes]) -> None:
    replace_folder(root / "generated/package", files, outside=root / "generated")


def _replace_all(root: Path, files: dict[str, bytes]) -> None:
    (root / "generated/notes").touch()
    replace_all(
        [
            Replacement(root / "generated/schema", files),
            Replacement(root / "generated/package", files),
            Replacement(root / "generated/notes", files["a"]),
        ]
    )


def main(root: Path, replace: Callable[[dict[str, bytes]], None], every: int, signals: list[str]) -> None:
    outside = root / "generated"
    outside.mkdir(exist_ok=True)
    for step in count(1, every):
        assert _replace(replace, OLD) == 0
        code = _replace(replace, NEW, step, *signals)
        found, around = _files(outside), sorted(path.name for path in root.iterdir())
        assert _replace(replace, NEW) == 0
        after = sorted(path.name for path in root.iterdir())
        sys.stdout.write(json.dumps({"code": code, "found": found, "around": around, "after": after}) + "\n")
        sys.stdout.flush()
        if code == 0:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes background commands ignore SIGINT
    if sys.argv[2] == "2":
        sys.platform = "a platform that can't exchange folders in one call"
    folder, is_all = Path(sys.argv[1]), sys.argv[2] == "all"
    every = scale.count(5, 1) if is_all else 1  # there are so many steps
    main(folder, partial(_replace_all if is_all else _replace_one, folder), every, sys.argv[3:])
