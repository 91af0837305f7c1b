"""What a connection keeps and writes has a bound."""

from __future__ import annotations

import asyncio

import pytest

from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import Options
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.runtime.peer import LINKS, PlainClient, calling
from tests.support.runtime.random_peer import iterations


async def test_rule_19_so_many_cancelled_calls_are_remembered_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    async with calling(LINKS["memory"]) as (agent, peer):
        calls = [asyncio.create_task(agent.ext_request("_ping")) for _ in range(10_001)]
        await iterations(2)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        first, last = (await peer.receive())["id"], 10_001
        await peer.send({"id": last, "result": None}, {"id": first, "result": None})
        await peer.until_quiet()
    assert [record.getMessage() for record in caplog.records] == [f"Ignored a response with an unknown id: {first}"]


async def test_rule_18_a_message_beyond_the_mark_is_written_before_the_iteration_ends() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(write_high_water_bytes=1000))
    unwritten: list[int] = []

    async def send(text: str) -> None:
        sending = asyncio.ensure_future(connection.remote.ext_request("_send", text))
        await asyncio.sleep(0)
        unwritten.append(there.unwritten)
        sending.cancel()

    await asyncio.gather(send("first"), send("small"), send("x" * 1000))
    connection.stop()
    await run(connection)
    assert unwritten[0] < 1000 < unwritten[2]
