"""What must not be left half done is finished, and a cancellation is not forgotten."""

from __future__ import annotations

import asyncio

import pytest

from acp_kit.common.shielded_tasks import run_to_end


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
