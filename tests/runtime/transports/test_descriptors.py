"""Readers and writers of descriptors never block the event loop."""

from __future__ import annotations

import asyncio
import os
from io import FileIO
from threading import Timer

import pytest

pytest.importorskip("fcntl", reason="needs POSIX")

import fcntl

from acp_runtime.transports.descriptors import FdReader, FdWriter
from acp_runtime.transports.files import CAPACITY
from acp_runtime.transports.stdio import open_writer
from acp_runtime.transports.threads import ThreadWriter


class _Received:
    def __init__(self) -> None:
        self.data: list[bytes] = []

    def received(self, data: bytes, /) -> None:
        self.data.append(data)

    def ended(self, error: OSError | None, /) -> None:
        pass


async def test_reading_now_does_not_block_when_the_loop_was_about_to_read() -> None:
    read, write = os.pipe()
    late = Timer(5, os.write, (write, b"late"))  # so that a blocked event loop continues
    late.start()
    received, reader = _Received(), FdReader(FileIO(read))
    reader.start(received)
    os.write(write, b"a")
    # In its next iteration the loop sees that the pipe can be read, then runs this, then the callback that reads.
    asyncio.get_running_loop().call_soon(reader.read_now)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late.cancel()
    assert received.data == [b"a"]
    os.write(write, b"b")
    while received.data == [b"a"]:
        await asyncio.sleep(0)
    assert received.data == [b"a", b"b"]
    reader.read_now()
    reader.pause()
    reader.read_now()
    os.write(write, b"c")
    for _ in range(3):
        await asyncio.sleep(0)
    assert received.data == [b"a", b"b"]
    reader.close()
    late.join()
    os.close(write)


async def test_the_end_of_a_reader_takes_everything_that_a_large_pipe_holds() -> None:
    read, write = os.pipe()
    size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1024 * 1024)
    os.write(write, b"x" * size)
    received, reader = _Received(), FdReader(FileIO(read))
    reader.start(received)
    reader.end()  # although the pipe is open for writing
    assert len(b"".join(received.data)) == size
    os.close(write)


async def test_the_end_of_a_reader_does_not_wait_for_a_process_that_writes_on() -> None:
    class Refilling(_Received):
        def received(self, data: bytes, /) -> None:
            sizes.append(len(data))
            if sum(sizes) <= 2 * most:
                os.write(write, data)

    sizes, most = list[int](), 1024 * 1024
    read, write = os.pipe()
    os.write(write, b"x" * CAPACITY)
    reader = FdReader(FileIO(read))
    reader.start(Refilling())
    reader.end()
    assert sum(sizes) == most
    os.close(write)


async def test_pausing_often_starts_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[object] = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda *timer: timers.append(timer))
    read, write = os.pipe()
    reader = FdReader(FileIO(read))
    reader.start(_Received())
    for _ in range(3):
        reader.pause()
        reader.resume()
    assert len(timers) == 1
    reader.close()
    os.close(write)


async def test_threads_write_to_terminals_which_may_have_less_room_than_they_say() -> None:
    ours, theirs = os.openpty()
    for writer in (open_writer(FileIO(theirs, "wb"), shared=True), open_writer(FileIO(os.devnull, "wb"), shared=True)):
        assert isinstance(writer, ThreadWriter)
        writer.write(b"x")
        await writer.close()
    assert os.read(ours, 10) == b"x"
    os.close(ours)


async def test_a_write_that_fails_when_the_peer_has_left_is_reported() -> None:
    read, write = os.pipe()
    writer, reported = FdWriter(FileIO(write, "wb"), shared=False), asyncio.get_running_loop().create_future()
    writer.on_failure(reported.set_result)
    writer.write(b"x" * 1_000_000)  # more than fits into the pipe
    os.close(read)
    assert isinstance(await reported, BrokenPipeError)
    with pytest.raises(BrokenPipeError):
        await writer.drain()
    writer.abort()


async def test_a_descriptor_that_is_used_again_is_not_waited_for_as_the_closed_one() -> None:
    read, write = os.pipe()
    writer = FdWriter(FileIO(write, "wb"), shared=False)
    writer.write(b"x" * 1_000_000)  # more than fits into the pipe, so the event loop waits
    writer.abort()
    os.close(read)
    read, other = os.pipe()
    if other != write:
        os.dup2(other, write)
        os.close(other)
    writer, received = FdWriter(FileIO(write, "wb"), shared=False), _Received()
    reader = FdReader(FileIO(read))
    reader.start(received)
    writer.write(b"x" * 1_000_000)
    async with asyncio.timeout(10):
        await writer.close()
    reader.end()
    assert len(b"".join(received.data)) == 1_000_000
