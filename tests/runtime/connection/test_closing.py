"""Rules 22 and 23: closing is completed, even if its task is cancelled repeatedly."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from acp_bindings.v1 import (
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    SessionNotification,
    connect_in_process,
    connect_streams,
    serve_streams,
)
from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options, RequestError
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import INITIALIZE, Link, PlainAgent, PlainClient, chunk, line, prompt, serving

pytestmark = pytest.mark.every_link


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
    work: Callable[[asyncio.Event, list[asyncio.StreamWriter]], Coroutine[Any, Any, None]], everything: bool, times: int
) -> None:
    """After a second Ctrl-C `asyncio.run` cancels every task."""
    entered = asyncio.Event()
    writers: list[asyncio.StreamWriter] = []
    others = asyncio.all_tasks()
    task = asyncio.create_task(work(entered, writers))
    await entered.wait()
    for _ in range(times):
        for cancelled in asyncio.all_tasks() - others if everything else {task}:
            cancelled.cancel()
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
                await let_others_run(3)
                cleaned.append(request.session_id)
            raise AssertionError

    async with serving(link, Tidy, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        await peer.end()
        assert [message["result"] for message in await peer.rest()] == [{"stopReason": "cancelled"}]
    assert cleaned == ["s1"]


async def test_rule_22_cancelling_every_task_once_hurries_the_closing() -> None:
    class Deaf(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()

    there, back = MemoryPipe(), MemoryPipe()
    others = asyncio.all_tasks()
    options = Options(guards="off", eof_grace=600, handler_deadline=600, flush_deadline=600)
    running = asyncio.create_task(run(Connection(AGENT_SIDE, Deaf, back, there, options)))
    back.write(line(prompt(1)))
    await let_others_run(10)
    for task in asyncio.all_tasks() - others:
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert asyncio.all_tasks() == others


async def test_rule_22_at_the_end_a_handler_may_still_answer_with_its_own_error(link: Link) -> None:
    class Creating(PlainAgent):
        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise RequestError(-32000, "no room") from None
            raise AssertionError

    async with serving(link, Creating, eof_grace=0.05) as peer:
        await peer.send({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
        await peer.end()
        (answer,) = await peer.rest()
        assert answer["error"] == {"code": -32000, "message": "no room"}


async def test_rule_22_a_hurried_closing_does_not_ask_the_process_again() -> None:
    class Stuck:
        async def why_closed(self, reason: ConnectionClosed) -> ConnectionClosed:
            asked.append(reason)
            if len(asked) == 1:
                await asyncio.Event().wait()
            return reason

    asked: list[ConnectionClosed] = []
    process: Any = Stuck()
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(), process)
    running = asyncio.create_task(run(connection))
    await back.close()
    for _ in range(2):
        await let_others_run(10)
        assert not running.done()
        running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asked) == 1
