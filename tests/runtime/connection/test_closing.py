"""Rules 22 and 23: closing is completed, even if its task is cancelled repeatedly."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from acp_bindings.v1 import (
    PromptRequest,
    PromptResponse,
    SessionNotification,
    connect_in_process,
    connect_streams,
    serve_streams,
)
from acp_runtime import Options
from acp_runtime.connection.shielded_waits import ShieldedWaits
from tests.support.runtime.peer import INITIALIZE, Link, PlainAgent, PlainClient, chunk, line, prompt, serving

pytestmark = pytest.mark.every_link

LONG = 60.0


async def cancelled_in_every_iteration(task: asyncio.Task[Any], iterations: int, message: str | None = None) -> None:
    """Cancel a task in every iteration of the event loop, as a cancel scope of anyio does."""
    for _ in range(iterations):
        task.cancel(message)
        await asyncio.sleep(0)


@pytest.mark.parametrize("message", [None, "Cancelled by cancel scope 7f"])
async def test_rule_22_repeated_cancellations_are_raised_at_the_end(
    message: str | None,
) -> None:
    async def close() -> None:
        closing = ShieldedWaits()
        await closing.finish(work)
        assert work.done()
        closing.raise_cancelled()

    async def endure() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    over = asyncio.Event()
    work = asyncio.create_task(endure())
    task = asyncio.create_task(close())
    await asyncio.sleep(0)
    await cancelled_in_every_iteration(task, 1000, message)
    over.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_rule_23_the_third_cancellation_ends_every_wait_at_once() -> None:
    async def close() -> None:
        closing = ShieldedWaits()
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        found.extend([await closing.until(never.done, LONG) for _ in range(3)])
        closing.raise_cancelled()

    found: list[bool] = []
    task = asyncio.create_task(close())
    await asyncio.sleep(0)
    await cancelled_in_every_iteration(task, 3)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert found == [False, False, False]


async def test_rule_23_a_scope_that_cancels_in_every_iteration_counts_as_one_cancellation() -> None:
    async def close() -> None:
        closing = ShieldedWaits()
        found.append(await closing.until(event.done, LONG))
        closing.raise_cancelled()

    found: list[bool] = []
    event: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(close())
    await asyncio.sleep(0)
    await cancelled_in_every_iteration(task, 100, "Cancelled by cancel scope 7f")
    event.set_result(None)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert found == [True]


async def test_rule_22_a_timeout_that_expires_while_closing_raises_timeout_error() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            closing = ShieldedWaits()
            await closing.until(lambda: False, 0.05)
            await closing.finish(asyncio.create_task(asyncio.sleep(0)))
            closing.raise_cancelled()


async def test_finish_raises_the_error_of_the_awaited_task() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ShieldedWaits().finish(asyncio.create_task(fail()))


PRIVATE = ["asyncio.tasks._unregister_task"]


@pytest.mark.parametrize("name", PRIVATE)
def test_the_package_works_without_a_private_name_of_asyncio(name: str) -> None:
    code = f"""
import asyncio, asyncio.tasks
del {name}
from tests.support.runtime.peer import PlainAgent, PlainClient
from acp_bindings.v1 import connect_in_process
async def main():
    async with connect_in_process(PlainAgent, PlainClient) as agent:
        print((await agent.initialize(protocol_version=1)).protocol_version)
asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("1\n", "")


class Slow(PlainAgent):
    """An agent that needs some time to end a cancelled prompt."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await self.client.session_update(session_id=request.session_id, update=chunk("working"))
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0.05)
                raise


async def serving_on_streams(entered: asyncio.Event, writers: list[asyncio.StreamWriter]) -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    peer_reader, peer_writer = await asyncio.open_connection(sock=theirs)
    writers += [writer, peer_writer]
    peer_writer.write(line({"id": 0, "method": "initialize", "params": INITIALIZE}) + line(prompt(1)))
    serving = asyncio.create_task(serve_streams(Slow, reader, writer, options=Options(eof_grace=0.2)))
    await peer_reader.readline()
    await peer_reader.readline()
    entered.set()
    try:
        await serving
    finally:
        peer_writer.close()


async def connected_on_streams(entered: asyncio.Event, writers: list[asyncio.StreamWriter]) -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    _, peer_writer = await asyncio.open_connection(sock=theirs)
    writers += [writer, peer_writer]
    try:
        async with connect_streams(PlainClient, reader, writer, options=Options(eof_grace=0.2)) as agent:
            entered.set()
            await agent.initialize(protocol_version=1)
    finally:
        peer_writer.close()


async def joined_in_process(entered: asyncio.Event, writers: list[asyncio.StreamWriter]) -> None:
    class Noticing(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            entered.set()

    async with connect_in_process(Slow, Noticing, options=Options(eof_grace=0.2)) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/", mcp_servers=[])
        await agent.session_prompt(session_id="s1", prompt=[])


@pytest.mark.parametrize("work", [serving_on_streams, connected_on_streams, joined_in_process])
@pytest.mark.parametrize("everything", [False, True], ids=["its task", "every task"])
@pytest.mark.parametrize("times", [1, 2, 3, 30])
async def test_rule_22_cancelled_closing_leaves_no_task_and_no_open_writer(
    work: Callable[[asyncio.Event, list[asyncio.StreamWriter]], Coroutine[Any, Any, None]],
    everything: bool,
    times: int,
) -> None:
    """After a second Ctrl-C `asyncio.run` cancels every task."""
    entered = asyncio.Event()
    writers: list[asyncio.StreamWriter] = []
    others = asyncio.all_tasks()
    task = asyncio.create_task(work(entered, writers))
    await entered.wait()
    for _ in range(times):
        for each in asyncio.all_tasks() - others if everything else {task}:
            each.cancel()
        await asyncio.sleep(0.01)
        if task.done():
            break
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == others
    assert all(writer.is_closing() for writer in writers)


async def test_rule_22_a_handler_that_cleans_up_is_cancelled_once(link: Link) -> None:
    cleaned: list[str] = []

    class Tidy(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(3):
                    await asyncio.sleep(0)
                cleaned.append(request.session_id)
            raise AssertionError

    async with serving(link, Tidy, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        await peer.end()
        assert [message["result"] for message in await peer.rest()] == [{"stopReason": "cancelled"}]
    assert cleaned == ["s1"]
