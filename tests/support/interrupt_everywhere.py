"""Replaces a folder repeatedly, interrupted by a signal one step later each time, until it succeeds.

A program of its own, because it forks. A step is an audit event: a file is opened, a folder is renamed, and so on. The
arguments are a working folder and cases, such as `1:SIGTERM`: what to replace, and the names of the signals. The first
signal is sent at the step, the others at the steps after it. What to replace is "all", for two folders and a file, or
one folder: 1 or 2 is the number of calls that exchanging it takes. For each run, the program prints a JSON object with
the files afterwards, and those after another run without interruption.
"""

from __future__ import annotations

import gc
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


def _interrupted(replace: Callable[[], None], step: int, signals: list[str]) -> int:
    """Replace the files in a child process, which gets the signals, and return its exit code."""
    child = os.fork()
    if not child:
        catch_signals()
        try:
            _interrupt_at(step, list(signals))
            replace()
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


def run(root: Path, case: str) -> None:
    what, _, names = case.partition(":")
    replace = partial(_replace_all if what == "all" else _replace_one, root)
    every = scale.count(5, 1) if what == "all" else 1  # there are so many steps
    outside = root / "generated"
    outside.mkdir(parents=True)
    for step in count(1, every):
        replace(OLD)
        code = _interrupted(partial(replace, NEW), step, names.split("-"))
        found, around = _files(outside), sorted(path.name for path in root.iterdir())
        replace(NEW)
        after = sorted(path.name for path in root.iterdir())
        line = {"case": case, "code": code, "found": found, "around": around, "after": after}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        if code == 0:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes background commands ignore SIGINT
    gc.disable()  # the forked processes are short
    actual = sys.platform
    for number, case in enumerate(sys.argv[2:]):
        sys.platform = "a platform that can't exchange folders in one call" if case.startswith("2:") else actual
        run(Path(sys.argv[1]) / str(number), case)
