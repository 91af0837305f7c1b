"""Replace a folder again and again, stopped by a signal at one place later each time, until it comes to its end.

Run as a program of its own, because it forks. A place is an audit event: a file opened, a folder renamed, and so on.
Arguments: a folder to work in, in how many steps folders are exchanged (1 or 2), and the names of the signals: the
first comes at the place, each other one at the next.
Prints a JSON object for each time: what was there afterwards, and what after one more run that nobody stopped.
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


def _stop_at(place: int, signals: list[str]) -> None:
    """Send the signals to this process, the first at an audit event with this number."""
    left = [place]

    def stop(event: str, arguments: tuple[object, ...]) -> None:
        if event not in ("os.kill", "signal.pthread_kill") and signals:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), getattr(signal, signals.pop(0)))

    sys.addaudithook(stop)


def _names(folder: Path) -> dict[str, str]:
    """Every file below a folder with what it says; of an empty folder, its name."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else "/"
        for path in sorted(folder.rglob("*"))
        if path.is_file() or not any(path.iterdir())
    }


def _replace(outside: Path, files: dict[str, bytes], place: int = 0, signals: list[str] | None = None) -> int:
    """Replace the package in a process of its own; gives its exit code."""
    child = os.fork()
    if not child:
        catch_signals()
        try:
            if place:
                _stop_at(place, list(signals or []))
            replace_folder(outside / "package", files, outside=outside)
            os._exit(0)
        except BaseException as error:  # as at the end of a program
            sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(root: Path, signals: list[str]) -> None:
    outside = root / "generated"
    for place in count(1):
        assert _replace(outside, OLD) == 0
        code = _replace(outside, NEW, place, signals)
        found, around = _names(outside), sorted(path.name for path in root.iterdir())
        assert _replace(outside, NEW) == 0
        after = sorted(path.name for path in root.iterdir())
        sys.stdout.write(json.dumps({"code": code, "found": found, "around": around, "after": after}) + "\n")
        sys.stdout.flush()
        if code == 0:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has a command in the background ignore
    if sys.argv[2] == "2":
        sys.platform = "one without a call for it"
    main(Path(sys.argv[1]), sys.argv[3:])
