"""`SqlHistory` between processes: what survives SIGKILL, several writers, and memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.history import SessionExists, SqlHistory, replay
from tests.support.kit.histories import kept, read
from tests.support.kit.session_updates import text_chunk
from tests.support.scale import SEED, count

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it forks and measures memory"),
    # The group shares the server of databases.
    pytest.mark.xdist_group("packages"),
]

MEBIBYTE = 1024 * 1024
# After how many appends a process is killed, at most.
MOST_APPENDS = 20
# How many characters each message of a long session has.
LONG_TEXT = 10_000
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


@pytest.fixture(scope="module", autouse=True)
def _server_runs() -> None:
    """Start the server of processes before a test counts descriptors."""
    join(start(asyncio.sleep, 0))


def start(work: Callable[..., Any], *args: Any) -> Any:
    """Run a coroutine function in a process of its own."""
    process = PROCESSES.Process(target=run, args=(work, *args))
    process.start()
    return process


def run(work: Callable[..., Any], *args: Any) -> None:
    asyncio.run(work(*args))


def join(process: Any) -> None:
    """Wait for the end of a process, which must succeed."""
    process.join()
    assert process.exitcode == 0, "its traceback is on stderr"
    process.close()


def random_updates(seed: int) -> Iterator[Any]:
    """Yield messages of some chunks, tool calls with updates, and settings."""
    seeded, number = Random(seed), 0
    while True:
        number += 1
        if seeded.random() < 0.6:
            role = seeded.choice(["agent_message", "agent_thought", "user_message"])
            yield from (text_chunk(f"{number}.{part} ", role) for part in range(seeded.randint(1, 6)))
        elif seeded.random() < 0.7:
            yield v1.SessionUpdateToolCall(tool_call_id=str(number), title="t")
            for status in ("in_progress", "completed"):
                yield v1.SessionUpdateToolCallUpdate(tool_call_id=str(number), status=status)
        else:
            yield v1.SessionUpdateSessionInfoUpdate(title=f"title {number}")


async def append_forever(database: str, seed: int, acknowledge: Connection) -> None:
    store = SqlHistory(database)
    await store.create(str(seed), cwd="/")
    for update in random_updates(seed):
        await store.append(str(seed), update)
        acknowledge.send_bytes(b".")


def kill_after(appends: int, database: str, seed: int) -> int:
    """Kill a process after so many appends have returned, and return how many did until then."""
    acknowledged, acknowledge = PROCESSES.Pipe(duplex=False)
    process = start(append_forever, database, seed, acknowledge)
    acknowledge.close()
    for _ in range(appends):
        acknowledged.recv_bytes()
    process.kill()
    process.join()
    process.close()
    with suppress(EOFError), acknowledged:
        while acknowledged.recv_bytes():
            appends += 1
    return appends


@pytest.mark.stress
async def test_nothing_that_was_appended_is_lost_when_the_process_is_killed(database: str) -> None:
    seeded = Random(SEED)
    appended = {seed: kill_after(seeded.randint(1, MOST_APPENDS), database, seed) for seed in range(count(5, 200))}
    async with SqlHistory(database) as store:
        for seed, appends in appended.items():
            updates = list(islice(random_updates(seed), appends + 1))
            # One more may have been appended and not acknowledged.
            assert kept(await read(store, str(seed))) in (kept(updates[:-1]), kept(updates)), (seed, appends)


async def append_beside_others(database: str, own: int, appends: int) -> None:
    async with SqlHistory(database) as store:
        await store.create(str(own), cwd="/")
        with suppress(SessionExists):
            await store.create("shared", cwd="/")
        for number in range(appends):
            await store.append(str(own), text_chunk(f"{number} "))
            await store.append("shared", v1.SessionUpdateToolCall(tool_call_id=f"{own} {number}", title="t"))


@pytest.mark.stress
async def test_processes_create_the_tables_and_append_to_them_at_the_same_time(database: str) -> None:
    processes, appends = 4, count(8, 200)
    for process in [start(append_beside_others, database, own, appends) for own in range(processes)]:
        join(process)
    async with SqlHistory(database) as store:
        shared = [update.tool_call_id.split() for update in await read(store, "shared")]
        assert len(shared) == processes * appends
        for own in range(processes):
            assert await read(store, str(own)) == [text_chunk("".join(f"{number} " for number in range(appends)))]
            assert [int(number) for process, number in shared if process == str(own)] == list(range(appends))


def long_messages() -> Iterator[Any]:
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


async def measure_replay(database: str, measured: Connection) -> None:
    """Send by how many bytes memory grows when a long session is replayed after a short one."""
    async with SqlHistory(database) as store:
        await replay(store, "short", CountingClient())
        before = peak_memory()
        client = CountingClient()
        await replay(store, "long", client)
        measured.send((client.count, peak_memory() - before))


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.test_all
@pytest.mark.stress
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_long_session_is_replayed_in_constant_memory(database: str) -> None:
    updates = count(2_000, 40_000)
    async with SqlHistory(database) as store:
        await store.create("short", cwd="/")
        await store.append("short", *islice(long_messages(), 100))
        await store.create("long", cwd="/")
        messages = long_messages()
        for _ in range(updates // 1000):
            await store.append("long", *islice(messages, 1000))
    receiving, sending = PROCESSES.Pipe(duplex=False)
    process = start(measure_replay, database, sending)
    sending.close()
    with receiving:
        sent, growth = receiving.recv()
    join(process)
    assert sent == updates
    assert os.stat(database).st_size > updates * 0.9 * LONG_TEXT > 16 * MEBIBYTE
    assert growth < 8 * MEBIBYTE


FORKS = """
import asyncio, os, sys
from acp_kit.history import SqlHistory

opened, unopened = SqlHistory(sys.argv[1]), SqlHistory(sys.argv[1])
asyncio.run(opened.create("s", cwd="/parent"))
if child := os.fork():
    print(os.waitpid(child, 0)[1], asyncio.run(opened.info("s")).cwd)
else:
    for use in (opened.list(), opened.rename("s", "title"), opened.close()):
        try:
            asyncio.run(use)
        except RuntimeError as error:
            print(error)
    print(asyncio.run(unopened.info("s")).cwd)
"""


def test_a_history_that_was_opened_before_a_fork_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKS, str(tmp_path / "h.db")]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.splitlines()
    assert [line for line in output if "was opened before this process was forked" in line] == output[:3]
    assert output[3:] == ["/parent", "0 /parent"]
