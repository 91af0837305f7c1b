"""Starts Python programs as forks of itself: `python -m tests.support.fork_server <descriptor of a socket>`.

A program on our package spends most of its CPU time on imports. A fork has those already. Apart from that it is like a
program that `python -m` or `python -c` runs: a process with its own descriptors, signals, environment and exit code.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import runpy
import socket
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

from acp_bindings.v1 import ContentBlockText, connect_in_process
from tests.support.runtime.peer import PlainAgent, PlainClient

DESCRIPTORS = ("stdin", "stdout", "stderr", "status")


def requested(control: socket.socket) -> tuple[Any, list[int]] | None:
    """Return the next request and the descriptors `DESCRIPTORS` for it, or None after the last one."""
    data, descriptors = b"", []
    while not data.endswith(b"\n"):
        received, more, _, _ = socket.recv_fds(control, 65536, len(DESCRIPTORS))
        if not received:
            return None
        data += received
        descriptors += more
    return json.loads(data), descriptors


def serve(control: socket.socket) -> Any:
    """Start the requested programs. Return None at the end, and in a fork the request for its program."""
    while (received := requested(control)) is not None:
        request, descriptors = received
        if os.fork() == 0:
            control.close()
            if supervise(descriptors[-1]) == 0:
                become(request, descriptors)
                return request
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
    with suppress(ChildProcessError):
        while os.wait():
            pass
    return None


def supervise(status: int) -> int:
    """Fork. Return 0 in the child, and otherwise its pid after reporting the pid and the exit code in a line each."""
    pid = os.fork()
    if pid:
        os.closerange(0, status)
        os.write(status, b"%d\n" % pid)
        os.write(status, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return pid


def become(request: Any, descriptors: list[int]) -> None:
    """Set what a new process has of its own."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["env"])


def run(kind: str, program: str, *arguments: str) -> None:
    """Run a program as `python -m <module>` or `python -c <code>` does."""
    sys.argv = [kind, *arguments]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), vars(main))


async def take_a_turn() -> None:
    """Use our package and asyncio, because they load and build much when they are first used."""
    async with connect_in_process(PlainAgent, PlainClient) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/", mcp_servers=[])
        await agent.session_prompt(session_id="s1", prompt=[ContentBlockText(text="hi")])


if __name__ == "__main__":
    asyncio.run(take_a_turn())
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        todo = serve(requests)
    if todo is not None:
        run(*todo["arguments"])
