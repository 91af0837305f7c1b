"""The parts of a connection work alone, with the parts below them that they use."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime import GuardError, Options
from acp_runtime.connection.both_sides import BothSides
from acp_runtime.connection.effects import Effects
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held import HeldLines
from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.in_flight import InFlightNotification, Tasks
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.negotiation import Negotiation
from acp_runtime.connection.request import InFlightRequest, Requests
from acp_runtime.connection.session import Sessions
from acp_runtime.connection.writer import Writer
from acp_runtime.transports.memory import MemoryPipe
from tests.support.runtime.peer import PlainAgent

OPTIONS = Options()


def nothing(*_: Any) -> None:
    """What the base class does for a notification."""


async def test_a_session_queue_handles_its_notifications_in_order() -> None:
    handled: list[int] = []
    limits = Limits(OPTIONS)
    sessions = Sessions(Tasks(), limits, 1000)

    async def handle(number: int) -> None:
        await asyncio.sleep(0)
        handled.append(number)

    for number in range(3):
        sessions.put("s", InFlightNotification("_note", handle, number, 10, limits, nothing))
    await asyncio.wait(sessions.tasks)
    assert (handled, limits.messages, sessions.by_id) == ([0, 1, 2], 0, {})


async def test_held_lines_are_sent_when_their_session_has_been_created() -> None:
    limits, sent = Limits(OPTIONS), list[bytes]()
    held = HeldLines(sent.append, 10)
    creation = InFlightNotification("session/new", nothing, None, 0, limits, nothing)  # type: ignore[arg-type]
    held.creating_requests.add(creation)
    assert not held.send("new", b"first\n")
    with pytest.raises(GuardError, match="max_held_bytes"):
        held.send("new", b"too much\n")
    assert held.send(None, b"other\n")
    held.end_creation(creation, "new")
    assert sent == [b"other\n", b"first\n"]


async def test_requests_answer_with_what_their_handlers_return() -> None:
    pipe, limits, tasks = MemoryPipe(1000), Limits(OPTIONS), Tasks()
    ended = asyncio.get_running_loop().create_future()
    writer = Writer(pipe, OPTIONS, limits, tasks, ended, nothing)
    sides = BothSides(AGENT_SIDE)
    sides.handler = AGENT_SIDE.make_handler(PlainAgent, AGENT_SIDE.remote(None))  # type: ignore[arg-type]
    guards, held = Guards(sides, OPTIONS), HeldLines(writer.send, 1000)
    effects = Effects(sides, guards, Sessions(tasks, limits, 1000), held)
    requests = Requests(sides, False, tasks, writer, Negotiation(sides.profile, OPTIONS), effects)

    async def double(number: int) -> int:
        return 2 * number

    requests.start(InFlightRequest("_double", double, 21, 10, limits, nothing, "id", None, None, None))
    await asyncio.wait(requests.running)
    assert pipe.unwritten == len(b'{"jsonrpc":"2.0","id":"id","result":42}\n')
    assert not requests.by_id


def test_recent_ids_are_bounded_in_number() -> None:
    ids = RecentIds()
    for number in range(5000):
        ids.add(str(number))
        ids.add("used again and again")
    assert "4999" in ids
    assert "used again and again" in ids
    assert "0" not in ids
