"""A connection can use two pipes that were opened as in asyncio's examples for stdin and stdout."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from acp_bindings.v1 import connect_streams, serve_streams
from acp_runtime import ConnectionClosed, Options
from acp_runtime.transports.transport import StreamTransport
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import PlainAgent, PlainClient

OPTIONS = Options(guards="off", eof_grace=0.05)


class WithoutCloseWaiter(asyncio.BaseProtocol):
    """The protocol for a pipe that the official SDK has, and that programs copied from it."""

    async def _drain_helper(self) -> None:
        pass


async def opened(
    protocol_class: Any = asyncio.streams.FlowControlMixin,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, Any, int, int]:
    """Return a reader, a writer, a transport to close at the end, and the descriptors of the peer (read, write)."""
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    incoming, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", 0)
    )
    outgoing, protocol = await loop.connect_write_pipe(protocol_class, os.fdopen(ours_out, "wb", 0))
    return reader, asyncio.StreamWriter(outgoing, protocol, reader, loop), incoming, theirs_in, theirs_out


async def test_rule_18_a_call_fails_when_its_full_pipe_breaks() -> None:
    reader, writer, incoming, theirs_in, theirs_out = await opened()
    with pytest.raises(ConnectionClosed, match="Writing"):
        async with connect_streams(PlainClient, reader, writer, options=OPTIONS) as agent:
            call = asyncio.create_task(agent.ext_request("_large", "x" * 2_000_000))
            await asyncio.sleep(0)
            os.close(theirs_in)
            await call
    incoming.close()
    os.close(theirs_out)
    await asyncio.sleep(0)


@pytest.mark.parametrize("protocol", [asyncio.streams.FlowControlMixin, WithoutCloseWaiter])
async def test_a_pipe_closes_without_an_error_of_the_event_loop(protocol: Any) -> None:
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    reader, writer, incoming, theirs_in, theirs_out = await opened(protocol)
    serving = asyncio.create_task(serve_streams(PlainAgent, reader, writer))
    os.close(theirs_out)
    await serving
    assert await asyncio.to_thread(_read_all, theirs_in) == 0
    incoming.close()
    await asyncio.sleep(0)
    assert errors == []


async def test_rule_22_the_last_message_is_written_completely_before_the_pipe_closes() -> None:
    reader, writer, incoming, theirs_in, theirs_out = await opened()
    reading = asyncio.create_task(asyncio.to_thread(_read_all, theirs_in))
    async with connect_streams(PlainClient, reader, writer, options=OPTIONS) as agent:
        sending = asyncio.create_task(agent.ext_notification("_large", "x" * 2_000_000))
        await asyncio.sleep(0)
    await sending
    incoming.close()
    os.close(theirs_out)
    assert await reading > 2_000_000


async def test_closing_a_pipe_waits_until_the_last_byte_is_written() -> None:
    reader, writer, incoming, theirs_in, theirs_out = await opened()
    size = 0
    while not writer.transport.get_write_buffer_size():
        writer.write(b"x")
        size += 1
    closing = asyncio.create_task(StreamTransport(reader, writer).close())
    await let_others_run(5)
    assert await asyncio.to_thread(_read_all, theirs_in) == size
    await closing
    incoming.close()
    os.close(theirs_out)
    await asyncio.sleep(0)


def _read_all(fd: int) -> int:
    with os.fdopen(fd, "rb") as file:
        return len(file.read())
