"""What must not be left half done is finished, and a cancellation is not forgotten."""

from __future__ import annotations

import asyncio

import pytest

from acp_kit.common.shielded_tasks import run_to_end
from acp_runtime import ConnectionClosed
from tests.support.event_loop import let_others_run


async def test_a_cancellation_goes_before_an_error_which_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise OSError("the disk is full")

    task = asyncio.create_task(run_to_end(fail()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "the disk is full" in caplog.text


async def test_that_the_peer_has_left_is_not_logged_after_a_cancellation(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ConnectionClosed("The peer closed the connection.")

    task = asyncio.create_task(run_to_end(fail()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert caplog.records == []


async def test_an_error_after_the_waiting_coroutine_was_closed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        await may_fail.wait()
        has_failed.set()
        raise OSError("the disk is full")

    may_fail, has_failed = asyncio.Event(), asyncio.Event()
    waiting = run_to_end(fail())
    waiting.send(None)
    waiting.close()
    may_fail.set()
    await has_failed.wait()
    await let_others_run(3)
    (record,) = caplog.records
    assert record.name == "acp_kit.common.shielded_tasks"
