"""Runs programs in forks of itself: `python -m tests.support.models.template_process`.

It has imported pydantic, which takes most of the time of a small program on our models, and nothing of ours. It reads
a request from each line of stdin, the arguments of `python`, and answers with a line: the exit code and the output.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import sys
from tempfile import TemporaryFile
from types import ModuleType
from typing import IO

from pydantic import BaseModel

SECONDS = 100


class Plain(BaseModel):
    """Makes pydantic import what it needs to build a class."""

    field: int | None = None


def fork(arguments: list[str]) -> bool:
    """Run a program in a fork and answer with its result. Return whether this is the fork."""
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        pid = os.fork()
        if pid == 0:
            with open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), 0)
            os.dup2(stdout.fileno(), 1)
            os.dup2(stderr.fileno(), 2)
            signal.alarm(SECONDS)
            return True
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        answer = json.dumps([code, written(stdout), written(stderr)])
        os.write(1, f"{answer}\n".encode())
        return False


def written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def run(kind: str, program: str, *arguments: str) -> None:
    """Run a program as `python -m <module>` or `python -c <code>` does."""
    sys.argv = [kind, *arguments]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), vars(main))


if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    todo = next((each for each in map(json.loads, sys.stdin) if fork(each)), None)
    if todo is not None:
        run(*todo)
