"""Run programs: `python -m codegen.compatibility.run`, with the bindings and the programs on the path.

It reads a JSON array from stdin, with an object for each program: its `name` and `plan`, and those of the program that
is right for the bindings as `new`. It prints an array with an object for each: the errors of the uses that fail.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

from codegen.compatibility.run.connections import create_handlers, run_calls, run_handlers
from codegen.compatibility.run.functions import run_functions
from codegen.compatibility.run.loaded import Loaded


def run(program: dict[str, Any]) -> dict[str, str]:
    """Run one program."""
    new = Loaded(program["new"]["name"], program["new"]["plan"])
    old = Loaded(program["name"], program["plan"], new)
    return run_functions(old) | create_handlers(old) | asyncio.run(_connect(old, new))


async def _connect(old: Loaded, new: Loaded) -> dict[str, str]:
    calls = await run_calls(old, new)
    is_new = old.module is new.module  # its calls have called its handlers
    return calls if is_new else calls | await run_handlers(old, new)


if __name__ == "__main__":
    logging.disable()
    json.dump([run(program) for program in json.load(sys.stdin)], sys.stdout)
