"""What a connection keeps and writes has a bound."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.runtime.peer import LINKS, calling
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


