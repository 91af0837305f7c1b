"""Rule 22: when this side closes the connection, no further handler starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_bindings.v1 import SessionNotification
from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.runtime.connection.idle import is_idle
from tests.support.event_loop import let_others_run
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import LINKS, Link, Peer, PlainClient, line, run_over, text_of, update

pytestmark = pytest.mark.every_link


@asynccontextmanager
async def left(link: Link, factory: Any, **options: Any) -> AsyncIterator[tuple[Connection, Peer]]:
    """Run a client's connection that is closed from this side at the end of the block."""
    async with link("client", 2) as (source, writer, peer_source, peer_writer):
        connection = Connection(CLIENT_SIDE, factory, source, writer, Options(guards="off", **options))
        running = asyncio.create_task(run_over(source, connection))
        peer = Peer(peer_source, peer_writer)
        yield connection, peer
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert is_idle(connection)
        peer.writer.abort()
        await peer.stop()


async def test_rule_22_updates_kept_for_a_new_session_are_handled_or_counted_as_discarded(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    factory = RecordingFactory(PlainClient)
    async with left(link, factory) as (connection, peer):
        call = asyncio.create_task(connection.remote.session_new(cwd="/", mcp_servers=[]))
        await peer.receive()
        await peer.send(update("new", "1"), update("new", "2"))
        await peer.until_quiet()
    with pytest.raises(ConnectionClosed):
        await call
    is_logged = "Discarded 2 received messages" in caplog.text
    assert len(factory.handler.updates) == (0 if is_logged else 2)


async def test_rule_22_after_a_handler_that_ignores_its_cancellation_no_other_starts(link: Link) -> None:
    class Stubborn(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            handled.append(text_of(notification))
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)

    handled: list[str] = []
    async with left(link, Stubborn, eof_grace=0.0) as (_, peer):
        await peer.send(update("s", "1"), update("s", "2"))
        await peer.until_quiet()
    assert handled == ["1"]


async def test_rule_22_discarded_messages_are_counted_once_although_the_closing_is_hurried(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    began, interrupted = asyncio.Event(), asyncio.Event()

    class Stubborn(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                interrupted.set()
                await asyncio.Event().wait()  # until it is cancelled again

    async with left(link, Stubborn, eof_grace=0.0, high_water_messages=2) as (connection, peer):
        await peer.send(*(update("s", str(number)) for number in range(100)))
        await began.wait()
        connection.stop()
        await interrupted.wait()  # leaving the block hurries the closing
    assert [record.getMessage()[:9] for record in caplog.records] == ["Discarded"]


async def test_rule_22_queued_messages_and_lines_that_wait_are_counted_as_discarded(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began = asyncio.Event()

    class Stuck(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            began.set()
            await asyncio.Event().wait()

    async with left(LINKS["memory"], Stuck, eof_grace=0.0, high_water_messages=2) as (_, peer):
        await peer.send(b"".join(line(update("s", str(number))) for number in range(100)))
        await began.wait()
    assert "Discarded 99 received messages" in caplog.text


async def test_rule_22_a_hurried_close_does_not_wait_for_a_peer_that_reads_nothing() -> None:
    began = asyncio.Event()

    class Stuck(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            began.set()
            await asyncio.Event().wait()

    async with left(LINKS["pipes"], Stuck, eof_grace=600, flush_deadline=600) as (connection, peer):
        sending = asyncio.ensure_future(connection.remote.ext_notification("_large", "x" * 10_000_000))
        await peer.send(update("s", "1"))
        await began.wait()
        connection.stop()
        await let_others_run(3)  # it waits for the handler; leaving the block hurries it
    with pytest.raises(ConnectionClosed):
        await sending


async def test_rule_22_leaving_does_not_wait_for_requests_of_a_peer_that_has_left(link: Link) -> None:
    began = asyncio.Event()

    class Stuck(PlainClient):
        async def ext_request(self, method: str, params: Any, /) -> Any:
            began.set()
            await asyncio.Event().wait()

    async with left(link, Stuck, eof_grace=600) as (connection, peer):
        await peer.send({"id": 1, "method": "_stuck"})
        await began.wait()
        await peer.end()
        await let_others_run(10)
        assert not connection.lifecycle.closed.done()


async def test_rule_22_leaving_does_not_wait_for_the_peer_to_close(link: Link) -> None:
    async with left(link, PlainClient, eof_grace=600) as (_, peer):
        await peer.until_quiet()


async def test_rule_22_handlers_may_end_when_this_side_leaves(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[str] = []

    class Ending(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.sleep(0.2)  # longer than a hurried closing waits
            ended.append(text_of(notification))

    async with left(LINKS["memory"], Ending, eof_grace=600) as (_, peer):
        await peer.send(update("s", "1"))
        await peer.until_quiet()
    assert ended == ["1"]
    assert caplog.records == []


async def test_rule_22_this_side_may_end_the_connection_while_the_last_messages_are_handled() -> None:
    class Stuck(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.Event().wait()

    there, back = MemoryPipe(), MemoryPipe()
    options = Options(guards="off", handler_deadline=600, eof_grace=0)
    connection = Connection(CLIENT_SIDE, Stuck, back, there, options)
    running = asyncio.create_task(run(connection))
    back.write(line(update("s", "last")))
    await back.close()
    await let_others_run(10)
    connection.stop()
    assert (await running).reason == "The peer closed the connection."


async def test_rule_22_the_end_of_this_side_cancels_only_its_turns() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(guards="off"))
    running, peer = asyncio.create_task(run(connection)), Peer(there, back)
    agent = connection.remote
    calls = [
        asyncio.ensure_future(agent.session_prompt(session_id="s", prompt=[])),
        asyncio.ensure_future(agent.session_set_mode(session_id="s", mode_id="m")),
        asyncio.ensure_future(agent.ext_request("_ping")),
    ]
    sent = [(await peer.receive())["method"] for _ in calls]
    assert sent == ["session/prompt", "session/set_mode", "_ping"]
    connection.stop()
    await running
    assert [message["method"] for message in await peer.rest()] == ["session/cancel", "$/cancel_request"]
    errors = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(error) for error in errors] == [ConnectionClosed] * 3
