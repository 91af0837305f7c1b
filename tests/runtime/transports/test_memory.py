"""Pipes in memory deliver like those of the system."""

from __future__ import annotations

from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run
from tests.support.runtime.received import Received


async def test_bytes_that_were_written_before_the_start_are_delivered() -> None:
    pipe, received = MemoryPipe(), Received()
    pipe.write(b"early")
    await let_others_run(3)
    pipe.start(received)
    await let_others_run(3)
    assert (received.data, received.ends) == ([b"early"], [])


async def test_a_stopped_pipe_delivers_nothing() -> None:
    pipe, received = MemoryPipe(), Received()
    pipe.start(received)
    pipe.write(b"late")
    await pipe.stop()
    await pipe.close()
    await let_others_run(3)
    assert (received.data, received.ends) == ([], [])
