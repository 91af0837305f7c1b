"""Processes that pass on what clients of version 2 send to agents of version 1."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.support.marked_processes import marked
from tests.support.programs import Program


@contextmanager
def gateway(*arguments: str, stderr: int | None = None) -> Generator[tuple[Program, str]]:
    """Run a gateway with these arguments of Python. Yield it, and the variable that marks its processes."""
    with marked() as marker, Program(*arguments, env={marker: "1"}, stderr=stderr) as program:
        yield program, marker
        program.kill()


@contextmanager
def bridge(*agent: str, stderr: int | None = None) -> Generator[tuple[Program, str]]:
    """Run `acp-bindings bridge` with an agent. Yield it, and the variable that marks its processes."""
    with gateway("-m", "acp_kit", "bridge", "--", *agent, stderr=stderr) as started:
        yield started


def end_by(way: str, program: Program) -> None:
    """Close the stdin of a program ("EOF"), or send it a signal."""
    if way == "EOF":
        program.stdin.close()
    else:
        program.send_signal(getattr(signal, way))


def until_idle(program: Program) -> Any:
    """Return the update that says that the session is idle."""
    while (update := program.receive()["params"]["update"]).get("state") != "idle":
        pass
    return update
