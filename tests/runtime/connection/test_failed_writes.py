"""Rule 22: what follows when writing to the peer fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run, wait_until
from tests.support.runtime.peer import PlainClient, line, text_of, update


async def test_rule_22_messages_that_a_peer_sent_before_it_stopped_reading_are_handled() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(guards="off", eof_grace=600))
    running = asyncio.create_task(run(connection))
    there.abort()
    await connection.remote.ext_notification("_lost")
    await let_others_run(10)
    back.write(line(update("s", "last")))
    await back.close()
    assert (await running).reason == "The peer closed the connection."
    assert [text_of(notification) for notification in connection.remote.handler.updates] == ["last"]


async def test_rule_22_a_notification_after_a_failed_write_raises() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(guards="off"))
    there.abort()
    await connection.remote.session_cancel(session_id="lost")  # it is written when this returns, if it can be
    for send in (connection.remote.session_cancel(session_id="s"), connection.remote.ext_notification("_note")):
        with pytest.raises(ConnectionClosed, match="no longer reads"):
            await send
    await run(connection)


async def test_rule_22_the_connection_ends_although_closing_the_writer_fails() -> None:
    class Failing(MemoryPipe):
        async def close(self) -> None:
            raise OSError("The disk is full.")

    there, back = Failing(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options())
    await back.close()
    assert (await run(connection)).reason == "The peer closed the connection."
    assert (await connection.remote.wait_closed()).reason == "The peer closed the connection."


class Unread(MemoryPipe):
    """A writer that finds out later that nobody reads what it wrote.

    Attributes:
        report: what it calls then.
    """

    def on_failure(self, call: Callable[[OSError], object], /) -> None:
        self.report = call


class Undrained(MemoryPipe):
    """A writer that finds out that nobody reads when it is drained."""

    async def drain(self) -> None:
        raise BrokenPipeError("gone")


@pytest.mark.parametrize("writer", [Unread, Undrained])
async def test_rule_22_a_call_fails_when_its_request_turns_out_not_to_be_written(writer: type[MemoryPipe]) -> None:
    there, back = writer(), MemoryPipe()
    options = Options(guards="off", eof_grace=0, write_high_water_bytes=0)
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, options)
    running = asyncio.create_task(run(connection))
    call = asyncio.ensure_future(connection.remote.ext_request("_ping"))
    await let_others_run(10)
    if isinstance(there, Unread):
        there.report(BrokenPipeError("gone"))
    await wait_until(call.done, lambda: "the call waits")
    with pytest.raises(ConnectionClosed, match="Writing to the peer failed: gone"):
        await call
    await running
