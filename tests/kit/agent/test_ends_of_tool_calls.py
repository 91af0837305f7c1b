"""A tool call ends whatever goes wrong in or around its block, and only its own rejection ends with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acp_bindings.v1 import PermissionOption, RemoteClient
from acp_kit.agent import Rejected, Session, ToolCall, Turn, TurnCancelled
from acp_runtime import ConnectionClosed, RemoteError, ResourceNotFound
from tests.support.kit.turns import conversation, updates_of


class RecordingClient:
    """Stands for a proxy. It keeps the updates, and runs `before` with each of them first."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.before: Callable[[Any], Awaitable[None]] | None = None

    async def session_update(self, *, session_id: str, update: Any) -> None:
        if self.before is not None:
            await self.before(update)
        self.updates.append(update)


def session(client: RecordingClient, record: Any = None) -> Session:
    proxy: Any = client
    remote: RemoteClient = proxy
    return Session(remote, "s", cwd="/work", record=record)


def statuses(updates: list[Any]) -> list[str]:
    return [update.status for update in updates]


async def test_an_end_that_can_not_be_sent_hides_no_error() -> None:
    client = RecordingClient()

    async def closed(update: Any) -> None:
        if update.status != "in_progress":
            raise ConnectionClosed("gone")

    client.before = closed
    with pytest.raises(ValueError, match="no"):
        async with session(client).turn() as turn, turn.tool_call("Read"):
            raise ValueError("no")
    with pytest.raises(ConnectionClosed):
        async with session(client).turn() as turn, turn.tool_call("Read"):
            pass
    with pytest.raises(ConnectionClosed):
        async with session(client).turn() as turn:
            await turn.tool_call("Read").start()


async def test_a_tool_call_ends_for_the_client_although_the_history_fails() -> None:
    client = RecordingClient()

    async def record(session_id: str, update: Any) -> None:
        if update.status != "in_progress":
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        async with session(client, record).turn() as turn, turn.tool_call("Read"):
            pass
    assert statuses(client.updates) == ["in_progress", "failed"]
    assert client.updates[-1].content[0].content.text == "disk full"


async def test_a_tool_call_whose_start_was_sent_when_it_was_cancelled_ends() -> None:
    client, sent = RecordingClient(), asyncio.Event()

    async def slow(update: Any) -> None:
        if update.status == "in_progress":
            client.updates.append(update)
            sent.set()
            await asyncio.Event().wait()

    async def work() -> None:
        async with session(client).turn() as turn, turn.tool_call("Read"):
            pytest.fail("the block was entered")

    client.before = slow
    working = asyncio.create_task(work())
    await sent.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert statuses(client.updates) == ["in_progress", "failed"]


async def test_a_rejection_ends_the_asking_tool_call_and_nested_ones() -> None:
    calls: list[ToolCall] = []

    async def act(turn: Turn) -> None:
        async with turn.tool_call("outer") as outer:
            async with turn.tool_call("inner") as inner:
                calls.extend((outer, inner))
                await outer.ask()
            pytest.fail("the outer tool call went on")

    assert statuses(await updates_of(act, "reject_once")) == ["in_progress", "in_progress", "failed", "failed"]
    assert [call.rejected for call in calls] == [True, False]


async def test_a_rejection_in_a_task_group_is_one() -> None:
    calls: list[ToolCall] = []

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read") as call, asyncio.TaskGroup() as tasks:
            calls.append(call)
            tasks.create_task(call.ask())

    assert reason(await updates_of(act, "reject_once")) == "Rejected by the user"
    assert calls[0].rejected


async def test_cancellations_beside_a_rejection_in_a_group_do_not_count() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read"):
            raise BaseExceptionGroup("both", [asyncio.CancelledError(), Rejected("Read")])

    assert reason(await updates_of(act)) == "Rejected by the user"


async def test_a_group_of_cancellations_leaves_the_block() -> None:
    client = RecordingClient()
    with pytest.raises(BaseExceptionGroup, match="stopped"):
        async with session(client).turn() as turn, turn.tool_call("Read"):
            raise BaseExceptionGroup("stopped", [asyncio.CancelledError()])
    assert reason(client.updates) == "Cancelled"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError("no notes.txt"), "no notes.txt"),
        (FileNotFoundError("no file a\udcff"), "no file a"),
        (KeyError(), "KeyError"),
        (ExceptionGroup("one", [ValueError("no")]), "no"),
        (ExceptionGroup("both", [ValueError("no"), Rejected("Read")]), "no"),
        (ResourceNotFound("gone"), "gone"),
    ],
    ids=repr,
)
async def test_an_error_of_the_block_is_the_reason_and_leaves_it(
    error: Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)  # pytest-xdist can't send a log with the name of the second file

    async def blocks(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            call.output("half of it", raw="half")
            raise error

    async def starts(turn: Turn) -> None:
        await turn.tool_call("Read").start()
        raise error

    for act, output in ((blocks, ["half of it"]), (starts, [])):
        async with conversation() as talk:
            with pytest.raises(RemoteError):
                await talk.prompt(act)
            assert statuses(talk.updates) == ["in_progress", "failed"]
            *shown, why = [part.content.text for part in talk.updates[-1].content]
            assert shown == output
            assert why.startswith(reason)
            assert "rawOutput" not in talk.updates[-1].model_dump()


async def test_a_tool_call_that_nobody_ended_ends_failed_with_its_turn() -> None:
    async def act(turn: Turn) -> None:
        await turn.tool_call("Search").start()

    updates = await updates_of(act)
    assert (statuses(updates), reason(updates)) == (["in_progress", "failed"], "Not finished")


async def test_own_code_can_cancel_the_turn() -> None:
    async def act(turn: Turn) -> None:
        raise TurnCancelled

    async with conversation() as talk:
        assert await talk.prompt(act) == "cancelled"


async def test_a_tool_call_is_not_opened_again_after_its_end() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            pass
        for attempt in (call.update, call.ask):
            with pytest.raises(RuntimeError, match="The tool call 'Read' has ended"):
                await attempt()
        with pytest.raises(RuntimeError, match="has ended"):
            call.output("late")

    assert statuses(await updates_of(act)) == ["in_progress", "completed"]


async def test_options_with_the_same_id_are_refused_before_the_user_sees_them() -> None:
    options = [PermissionOption(option_id="x", name=kind, kind=kind) for kind in ("allow_once", "reject_once")]

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Write") as call:
            with pytest.raises(ValueError, match="Two options have the id 'x'"):
                await call.ask(options)

    async with conversation() as talk:
        assert await talk.prompt(act) == "end_turn"
        assert talk.client.asked == []


def reason(updates: list[Any]) -> str:
    return str(updates[-1].content[-1].content.text)
