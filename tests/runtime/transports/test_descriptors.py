"""Readers and writers of descriptors never block the event loop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from io import FileIO
from threading import Timer
from typing import Any

import pytest

pytest.importorskip("fcntl", reason="needs POSIX")

import fcntl

from acp_runtime.transports import descriptors
from acp_runtime.transports.descriptors import FdReader, FdWriter
from acp_runtime.transports.files import CAPACITY
from acp_runtime.transports.stdio import open_reader, open_writer
from acp_runtime.transports.threads import ThreadWriter
from tests.support.event_loop import let_others_run
from tests.support.runtime.received import Received


def _socket_pair() -> tuple[int, int]:
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let paused readers look in each iteration of the event loop whether the peer has closed its side."""
    monkeypatch.setattr(descriptors, "_LOOK_FOR_END", 0)


async def _run_callbacks() -> list[dict[str, Any]]:
    """Let the event loop run a few times. Return the errors that were reported to it."""
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    await let_others_run(10)
    return errors


@pytest.mark.parametrize("make", [os.pipe, _socket_pair])
async def test_reading_now_does_not_block_when_the_loop_was_about_to_read(make: Callable[[], tuple[int, int]]) -> None:
    read, write = make()
    late = Timer(5, os.write, (write, b"late"))  # so that a blocked event loop continues
    late.start()
    received, reader = Received(), FdReader(FileIO(read))
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
    await let_others_run(3)
    assert received.data == [b"a", b"b"]
    reader.close()
    late.join()
    os.close(write)


async def test_the_end_of_a_reader_takes_everything_that_a_large_pipe_holds() -> None:
    read, write = os.pipe()
    size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1024 * 1024)
    os.write(write, b"x" * size)
    received, reader = Received(), FdReader(FileIO(read))
    reader.start(received)
    reader.end()  # although the pipe is open for writing
    assert len(b"".join(received.data)) == size
    os.close(write)


async def test_the_end_of_a_reader_does_not_wait_for_a_process_that_writes_on() -> None:
    class Refilling(Received):
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
    timers: list[Any] = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda *timer: timers.append(timer))
    read, write = os.pipe()
    reader = FdReader(FileIO(read))
    reader.start(Received())
    for _ in range(3):
        reader.pause()
        reader.resume()
    ((delay, *_),) = timers
    assert delay > 0  # otherwise, the loop would be busy
    reader.close()
    os.close(write)


@pytest.mark.usefixtures("looks_often")
@pytest.mark.parametrize("make", [os.pipe, _socket_pair])
async def test_a_paused_reader_leaves_the_bytes_until_it_is_resumed(make: Callable[[], tuple[int, int]]) -> None:
    read, write = make()
    received, reader = Received(), FdReader(FileIO(read))
    reader.start(received)
    reader.pause()
    os.write(write, b"a")
    assert await _run_callbacks() == []
    assert received.data == []
    reader.resume()
    assert await _run_callbacks() == []
    os.write(write, b"b")
    assert await _run_callbacks() == []
    assert received.data == [b"a", b"b"]
    reader.pause()
    assert await _run_callbacks() == []
    os.close(write)
    assert await _run_callbacks() == []
    assert received.ends == [None]


@pytest.mark.usefixtures("looks_often")
async def test_a_stopped_reader_leaves_the_rest_to_other_processes() -> None:
    read, write = os.pipe()
    received, reader = Received(), FdReader(FileIO(read))
    reader.start(received)
    await reader.stop()
    os.write(write, b"rest")
    assert await _run_callbacks() == []
    other = os.dup(read)
    os.close(write)
    assert await _run_callbacks() == []
    assert os.read(other, 10) == b"rest"
    assert received.data == []
    reader.close()
    os.close(other)


async def test_a_stopped_reader_that_keeps_draining_discards_the_rest() -> None:
    read, write = os.pipe()
    received, reader = Received(), FdReader(FileIO(read))
    reader.start(received)
    reader.keep_draining()
    await reader.stop()
    os.set_blocking(write, False)
    for _ in range(3):
        assert os.write(write, b"x" * CAPACITY) == CAPACITY
        assert await _run_callbacks() == []
    assert (received.data, received.ends) == ([], [])
    reader.close()
    os.close(write)


async def test_a_read_that_fails_is_the_end() -> None:
    ours, theirs = os.openpty()
    received, reader = Received(), FdReader(FileIO(ours))
    reader.start(received)
    os.close(theirs)
    assert await _run_callbacks() == []
    (error,) = received.ends
    assert isinstance(error, OSError)


async def test_a_reader_can_be_closed_before_it_was_started() -> None:
    read, write = os.pipe()
    reader = FdReader(FileIO(read))
    reader.close()
    with pytest.raises(BrokenPipeError):
        os.write(write, b"x")
    os.close(write)


async def test_in_a_forked_child_a_reader_ends_with_an_error() -> None:
    read, write = os.pipe()
    received, reader = Received(), FdReader(FileIO(read))
    reader.start(received)
    asyncio.get_running_loop().remove_reader(read)
    reader.close_in_child()
    assert await _run_callbacks() == []
    (error,) = received.ends
    assert isinstance(error, BrokenPipeError)
    os.close(write)


async def test_in_a_forked_child_a_writer_fails_without_a_change_for_the_parent() -> None:
    read, write = os.pipe()
    of_parent = os.dup(write)
    writer, reported = FdWriter(FileIO(write, "wb"), shared=False), asyncio.get_running_loop().create_future()
    writer.on_failure(reported.set_result)
    writer.write(b"x" * 1_000_000)  # more than fits into the pipe, so the event loop waits
    writer.close_in_child()
    with pytest.raises(BrokenPipeError):
        writer.write(b"y")
    assert set(os.read(read, 1_000_000)) == {ord("x")}  # now the event loop sees that the pipe of the parent has room
    assert await _run_callbacks() == []
    assert isinstance(reported.result(), BrokenPipeError)
    assert asyncio.get_running_loop().remove_writer(write)
    os.close(of_parent)
    assert os.read(read, 1) == b""
    os.close(read)


@pytest.mark.parametrize("make", [os.pipe, _socket_pair, os.openpty])
async def test_the_event_loop_reads_pipes_sockets_and_terminals(make: Callable[[], tuple[int, int]]) -> None:
    ours, theirs = make()
    reader = open_reader(FileIO(ours))
    assert isinstance(reader, FdReader)  # closing one of a thread would not end its present read
    reader.close()
    os.close(theirs)


@pytest.mark.parametrize("make", [os.pipe, _socket_pair])
async def test_pipes_and_sockets_are_written_at_once(make: Callable[[], tuple[int, int]]) -> None:
    read, write = make()
    writer = open_writer(FileIO(write, "wb"), shared=True)
    writer.write(b"x")
    assert writer.unwritten == 0
    assert os.read(read, 10) == b"x"
    writer.abort()
    os.close(read)


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
    assert await _run_callbacks() == []
    assert not asyncio.get_running_loop().remove_writer(write)  # otherwise, the loop would call it again and again
    writer.abort()
    with pytest.raises(BrokenPipeError):
        writer.write(b"x")


async def test_a_writer_may_be_closed_as_soon_as_it_fails() -> None:
    read, write = os.pipe()
    writer = FdWriter(FileIO(write, "wb"), shared=False)
    writer.on_failure(lambda _: writer.abort())
    writer.write(b"x" * 1_000_000)  # more than fits into the pipe
    os.close(read)
    assert await _run_callbacks() == []
    assert writer.error is not None


async def test_a_failed_write_raises_even_without_a_failure_callback() -> None:
    read, write = os.pipe()
    writer = FdWriter(FileIO(write, "wb"), shared=False)
    os.close(read)
    with pytest.raises(BrokenPipeError):
        writer.write(b"x")
    writer.abort()


async def test_the_loop_waits_for_a_writer_only_while_something_is_unwritten() -> None:
    read, write = os.pipe()
    received, reader = Received(), FdReader(FileIO(read))
    writer = FdWriter(FileIO(write, "wb"), shared=False)
    writer.write(b"x" * 100_000)  # more than fits into the pipe
    reader.start(received)
    while writer.unwritten:
        await asyncio.sleep(0)
    assert not asyncio.get_running_loop().remove_writer(write)
    writer.abort()
    reader.end()
    assert len(b"".join(received.data)) == 100_000


async def test_closing_a_writer_waits_until_the_last_byte_is_written() -> None:
    read, write = os.pipe()
    writer = FdWriter(FileIO(write, "wb"), shared=False)
    size = os.write(write, b"x" * 1_000_000)  # as much as fits into the pipe
    writer.write(b"y")
    closing = asyncio.create_task(writer.close())
    await _run_callbacks()
    assert os.read(read, size) == b"x" * size
    await closing
    assert os.read(read, 10) == b"y"
    os.close(read)


async def test_a_shared_socket_that_has_something_to_read_can_not_block_a_write() -> None:
    ours, theirs = _socket_pair()
    late = Timer(5, os.close, (theirs,))  # so that a blocked event loop continues
    late.start()
    writer = FdWriter(FileIO(ours, "wb"), shared=True)
    os.write(theirs, b"a")
    for _ in range(1000):
        writer.write(b"x" * 4096)
    assert writer.unwritten
    assert late.is_alive()
    late.cancel()
    writer.abort()
    os.close(theirs)


async def test_bytes_that_a_shared_file_does_not_take_are_written_later() -> None:
    class Full(FileIO):
        """Takes nothing once, as if another process had set O_NONBLOCK and filled it meanwhile."""

        is_full = True

        def write(self, data: Any, /) -> Any:
            if self.is_full:
                self.is_full = False
                return None
            return super().write(data)

    read, write = os.pipe()
    writer = FdWriter(Full(write, "wb"), shared=True)
    writer.write(b"abc")
    await writer.close()
    assert os.read(read, 10) == b"abc"
    os.close(read)


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
    writer, received = FdWriter(FileIO(write, "wb"), shared=False), Received()
    reader = FdReader(FileIO(read))
    reader.start(received)
    writer.write(b"x" * 1_000_000)
    async with asyncio.timeout(10):
        await writer.close()
    reader.end()
    assert len(b"".join(received.data)) == 1_000_000
