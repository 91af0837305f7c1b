"""Processes that use one `SqlHistory`: killed while they append, several at once, and one that replays it.

`main` reads lines with a JSON list: what to do, a database, another database, a count, and for some a seed. The
databases are paths or URLs. It forks, so that all processes share the time of importing. It prints what it measured as
JSON, and null if it fails.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any

from acp_bindings import v1
from acp_kit.history import SessionExists, SqlHistory, replay
from tests.support.kit.histories import kept, read
from tests.support.kit.session_updates import text_chunk

# After how many appends a process is killed, at most.
MOST = 20
# How many characters each message of a long session has.
LONG_TEXT = 10_000


def random_updates(seed: int) -> Iterator[Any]:
    """Yield messages of some chunks, tool calls with updates, and settings."""
    seeded, number = Random(seed), 0
    while True:
        number += 1
        if seeded.random() < 0.6:
            role = seeded.choice(["agent_message", "agent_thought", "user_message"])
            yield from (text_chunk(f"{number}.{each} ", role) for each in range(seeded.randint(1, 6)))
        elif seeded.random() < 0.7:
            yield v1.SessionUpdateToolCall(tool_call_id=str(number), title="t")
            for status in ("in_progress", "completed"):
                yield v1.SessionUpdateToolCallUpdate(tool_call_id=str(number), status=status)
        else:
            yield v1.SessionUpdateSessionInfoUpdate(title=f"title {number}")


def forked(work: Coroutine[Any, Any, None]) -> int:
    """Run a coroutine in a forked process, which ends with its result. Return the id of the process."""
    process = os.fork()
    if process:
        work.close()
        return process
    try:
        asyncio.run(work)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)


def ended_well(process: int) -> None:
    _, status = os.waitpid(process, 0)
    assert status == 0, f"process {process} ended with status {status}"


async def warm_up(database: str) -> None:
    """Use everything once, so that forked processes need less time."""
    async with SqlHistory(database) as store:
        await store.create("s", cwd="/")
        await store.append("s", *islice(random_updates(0), 20))
        await read(store, "s")


async def append_forever(database: str, seed: int, acknowledge: int) -> None:
    store = SqlHistory(database)
    await store.create(str(seed), cwd="/")
    for update in random_updates(seed):
        await store.append(str(seed), update)
        os.write(acknowledge, b".")


async def check(database: str, acknowledged: dict[int, int]) -> None:
    """Check that what was acknowledged is there, and nothing but at most one more update."""
    async with SqlHistory(database) as store:
        for seed, count in acknowledged.items():
            found = kept(await read(store, str(seed)))
            updates = list(islice(random_updates(seed), count + 1))
            assert found in (kept(updates[:count]), kept(updates)), (seed, count, found)


def kill(database: str, other: str, rounds: int, seed: int) -> dict[str, Any]:
    """Kill processes while they append to one database, each to a session of its own. Check all sessions at the end."""
    asyncio.run(warm_up(other))
    seeded, acknowledged = Random(seed), dict[int, int]()
    for number in range(rounds):
        acknowledged[number] = _killed(database, number, seeded.randint(1, MOST))
    asyncio.run(check(database, acknowledged))
    return {"appended": sum(acknowledged.values())}


def _killed(database: str, number: int, appends: int) -> int:
    """Kill a process after so many appends have returned, and return how many did until then."""
    reading, writing = os.pipe()
    process = forked(append_forever(database, number, writing))
    os.close(writing)
    count = 0
    while count < appends:
        more = os.read(reading, 1000)
        assert more, "the process ended by itself"
        count += len(more)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    while more := os.read(reading, 1000):
        count += len(more)
    os.close(reading)
    return count


async def append_beside_others(database: str, own: int, count: int) -> None:
    async with SqlHistory(database) as store:
        await store.create(str(own), cwd="/")
        with suppress(SessionExists):
            await store.create("shared", cwd="/")
        for number in range(count):
            await store.append(str(own), text_chunk(f"{number} "))
            await store.append("shared", v1.SessionUpdateToolCall(tool_call_id=f"{own} {number}", title="t"))


async def check_shared(database: str, processes: int, count: int) -> None:
    async with SqlHistory(database) as store:
        shared = [update.tool_call_id.split() for update in await read(store, "shared")]
        assert len(shared) == processes * count
        for own in range(processes):
            assert await read(store, str(own)) == [text_chunk("".join(f"{number} " for number in range(count)))]
            assert [int(number) for process, number in shared if process == str(own)] == list(range(count))


def share(database: str, other: str, count: int, processes: int) -> dict[str, Any]:
    """Let processes create the tables of one database and append to it at the same time."""
    asyncio.run(warm_up(other))
    for process in [forked(append_beside_others(database, own, count)) for own in range(processes)]:
        ended_well(process)
    asyncio.run(check_shared(database, processes, count))
    return {}


async def write_long(database: str, count: int) -> None:
    async with SqlHistory(database) as store:
        await store.create("short", cwd="/")
        await store.append("short", *islice(_entries(), 100))
        await store.create("long", cwd="/")
        entries = _entries()
        for _ in range(count // 1000):
            await store.append("long", *islice(entries, 1000))


def _entries() -> Iterator[Any]:
    number = 0
    while True:
        number += 1
        if number % 20 == 0:
            yield v1.SessionUpdateToolCall(tool_call_id=str(number), title="t", status="completed")
        else:
            yield text_chunk("x" * LONG_TEXT, message_id=str(number))


class CountingClient:
    """Counts the updates that it is sent."""

    def __init__(self) -> None:
        self.count = 0

    async def session_update(self, *, session_id: str, update: Any) -> None:
        self.count += 1


def replay_long(database: str, _: str, count: int) -> dict[str, Any]:
    """Measure by how much the memory of a process grows when it replays a long session after a short one, in bytes."""
    ended_well(forked(write_long(database, count)))

    async def measured() -> dict[str, Any]:
        async with SqlHistory(database) as store:
            await replay(store, "short", CountingClient())
            before = _peak()
            client = CountingClient()
            await replay(store, "long", client)
            return {"sent": client.count, "growth": _peak() - before, "file": os.stat(database).st_size}

    return asyncio.run(measured())


def _peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    actions: dict[str, Callable[..., dict[str, Any]]] = {"kill": kill, "share": share, "replay": replay_long}
    for line in sys.stdin:
        what, *arguments = json.loads(line)
        if (process := os.fork()) == 0:
            print(json.dumps(actions[what](*arguments)))
            return
        if os.waitpid(process, 0)[1]:
            print("null", flush=True)


if __name__ == "__main__":
    main()
