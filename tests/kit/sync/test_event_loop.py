"""A call that comes while the event loop ends is refused, and never waits for a loop that doesn't run any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from acp_kit.sync.event_loop import EventLoopThread
from acp_runtime import ConnectionClosed


def test_no_call_begins_after_the_context_was_left() -> None:
    left, may_end = threading.Event(), threading.Event()

    @asynccontextmanager
    async def context() -> AsyncGenerator[None]:
        # The event loop waits for this before it ends.
        asyncio.get_running_loop().run_in_executor(None, may_end.wait)
        yield
        left.set()

    async def work() -> None:
        pytest.fail("the call has begun")

    thread = EventLoopThread(context())
    thread.begin_close()
    left.wait()
    try:
        with pytest.raises(ConnectionClosed, match="by this side"):
            thread.call(work)
        assert thread.read(lambda: "the last state") == "the last state"
    finally:
        may_end.set()
        thread.close()
