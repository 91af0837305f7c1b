"""The tasks of a client whose speed is measured. The clients in `ours/` and `python_sdk/` call `main`.

They are started with `<task as JSON> <agent> [<argument> ...]`, and print their measurements. The tasks are, each with
`warm` untimed messages before the `count` timed ones:
* `updates`: receive updates with `size` characters;
* `prompts`: send prompts in `in_flight` sessions at a time;
* `agents`: receive updates from each of that many agents.

This module imports only the standard library. The client in `typescript/` does the same.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeAlias


class CountingClient(Protocol):
    """A client that counts updates.

    Attributes:
        handled: the number of updates that were handled.
        wanted: the number at which `done` is set.
        done: set by the handler of updates.
    """

    handled: int
    wanted: int
    done: asyncio.Event

    async def initialize(self) -> None:
        """Call `initialize`."""

    async def open_session(self) -> str:
        """Call `session/new`, and return the id of the session."""
        ...

    async def prompt(self, session: str, count: int, size: int) -> None:
        """Call `session/prompt`. The agent streams this many updates with this many characters."""


Task: TypeAlias = dict[str, Any]
Connect: TypeAlias = Callable[[AsyncExitStack, list[str]], Awaitable[CountingClient]]
"""Starts an agent, and returns its client."""


async def stream(client: CountingClient, session: str, count: int, size: int) -> None:
    """Let the agent stream updates, and wait until they are handled."""
    if not count:
        return
    client.done.clear()
    client.wanted = client.handled + count
    await client.prompt(session, count, size)
    await client.done.wait()


async def updates(connect: Connect, stack: AsyncExitStack, command: list[str], task: Task) -> dict[str, float]:
    client = await connect(stack, command)
    await client.initialize()
    session = await client.open_session()
    await stream(client, session, task["warm"], 40)
    started = time.perf_counter()
    await stream(client, session, task["count"], task["size"])
    return {"seconds": time.perf_counter() - started}


async def prompts(connect: Connect, stack: AsyncExitStack, command: list[str], task: Task) -> dict[str, float]:
    client = await connect(stack, command)
    await client.initialize()
    sessions = [await client.open_session() for _ in range(task["in_flight"])]

    async def one_after_the_other(session: str, count: int) -> None:
        for _ in range(count):
            await client.prompt(session, 0, 0)

    await asyncio.gather(*(one_after_the_other(session, task["warm"] // len(sessions)) for session in sessions))
    started = time.perf_counter()
    await asyncio.gather(*(one_after_the_other(session, task["count"] // len(sessions)) for session in sessions))
    return {"seconds": time.perf_counter() - started}


async def agents(connect: Connect, stack: AsyncExitStack, command: list[str], task: Task) -> dict[str, float]:
    clients: list[CountingClient] = []
    sessions: list[str] = []

    async def open_sessions(number: int) -> None:
        clients.extend([await connect(stack, command) for _ in range(number)])
        await asyncio.gather(*(client.initialize() for client in clients[-number:]))
        sessions.extend(await asyncio.gather(*(client.open_session() for client in clients[-number:])))

    await open_sessions(1)
    one = peak_memory()
    await open_sessions(task["agents"] - 1)
    idle = (peak_memory() - one) / (task["agents"] - 1)

    async def finish(client: CountingClient, session: str, count: int) -> float:
        await stream(client, session, count, 40)
        return time.perf_counter()

    pairs = list(zip(clients, sessions, strict=True))
    await asyncio.gather(*(finish(*pair, task["warm"]) for pair in pairs))
    started = time.perf_counter()
    took = [at - started for at in await asyncio.gather(*(finish(*pair, task["count"]) for pair in pairs))]
    return {"seconds": max(took), "lag": max(took) / statistics.median(took), "idle": idle}


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except OSError:  # not on Linux, where `ru_maxrss` would include the parent's memory at the start of this process
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


async def _run(connect: Connect, task: Task, command: list[str]) -> None:
    run = {"updates": updates, "prompts": prompts, "agents": agents}[task["do"]]
    async with AsyncExitStack() as stack:
        measured = await run(connect, stack, command, task)
    print(json.dumps({**measured, "peak": peak_memory()}))


def main(connect: Connect) -> None:
    """Run the task of the command line, and print what was measured."""
    asyncio.run(_run(connect, json.loads(sys.argv[1]), sys.argv[2:]))
