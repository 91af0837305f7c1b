"""Readers and writers in threads, for files that the event loop can't wait for."""

from __future__ import annotations

import asyncio
import errno
import os
import selectors
import sys
import threading
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from acp_runtime.transports.files import CAPACITY
from acp_runtime.transports.threads import ThreadReader, ThreadWriter, write_all
from tests.support.runtime.received import Received


class CountingFile(FileIO):
    """Counts how often it is read, and tells the event loop when it is closed."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.reads = 0
        self.was_closed = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def read(self, size: int | None = -1, /) -> Any:
        self.reads += 1
        return super().read(size)

    def close(self) -> None:
        super().close()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.was_closed.set)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is read in three pieces."""
    file = tmp_path / "file"
    file.write_bytes(b"a" * CAPACITY + b"b" * CAPACITY + b"c")
    return file


async def let_threads_run() -> None:
    for _ in range(200):
        await asyncio.to_thread(lambda: None)


async def test_a_file_is_read_to_its_end(file: Path) -> None:
    received, reader = Received(), ThreadReader(FileIO(file))
    reader.start(received)
    assert await received.end() is None
    assert b"".join(received.data) == file.read_bytes()


async def test_nothing_is_read_before_the_start_and_nothing_more_while_paused(file: Path) -> None:
    class Pausing(Received):
        def received(self, data: bytes, /) -> None:
            super().received(data)
            reader.pause()
            has_received.set()

    received, reader, has_received = Pausing(), ThreadReader(FileIO(file)), asyncio.Event()
    await let_threads_run()
    reader.start(received)
    async with asyncio.timeout(30):
        for pieces in (["a"], ["a", "b"], ["a", "b", "c"]):
            await has_received.wait()
            has_received.clear()
            await let_threads_run()
            assert [chr(data[0]) for data in received.data] == pieces
            reader.resume()
        assert await received.end() is None


async def test_reading_goes_on_by_itself_after_a_pause(file: Path) -> None:
    received, reader = Received(), ThreadReader(FileIO(file))
    reader.pause()
    reader.start(received)
    await received.end()
    assert b"".join(received.data) == file.read_bytes()


async def test_a_closed_reader_reads_nothing_more_and_closes_the_file(file: Path) -> None:
    counting = CountingFile(file)
    received, reader = Received(), ThreadReader(counting)
    reader.close()
    async with asyncio.timeout(30):
        await counting.was_closed.wait()
    assert counting.reads == 0
    counting = CountingFile(file)
    reader = ThreadReader(counting)
    reader.pause()
    reader.start(received)
    reader.close()
    assert await received.end() is None
    assert counting.reads <= 1


async def test_a_stopped_reader_that_keeps_draining_discards_the_rest(file: Path) -> None:
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    counting = CountingFile(file)
    received, reader = Received(), ThreadReader(counting)
    reader.keep_draining()
    await reader.stop()
    async with asyncio.timeout(30):
        while not counting.closed and not errors:
            await let_threads_run()
    assert counting.reads == 4
    assert (received.data, errors) == ([], [])


async def test_an_error_of_a_read_is_reported_as_the_end(file: Path) -> None:
    class Failing(FileIO):
        def read(self, size: int | None = -1, /) -> Any:
            raise OSError(errno.EIO, "broken")

    received, reader = Received(), ThreadReader(Failing(file))
    reader.start(received)
    assert "broken" in str(await received.end())


async def test_a_thread_that_is_stuck_does_not_keep_the_process_running(file: Path) -> None:
    before = set(threading.enumerate())
    reader, writer = ThreadReader(FileIO(file)), ThreadWriter(FileIO(os.devnull, "wb"))
    threads = set(threading.enumerate()) - before
    assert [thread.daemon for thread in threads] == [True, True]
    reader.close()
    await writer.close()
    await end(threads)


async def end(threads: set[threading.Thread]) -> None:
    for thread in threads:
        await asyncio.to_thread(thread.join, 30)
        assert not thread.is_alive()


async def test_a_file_is_written_in_order_and_closed(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    writer = ThreadWriter(FileIO(tmp_path / "out", "wb"))
    for data in (b"a", b"b", b"c"):
        writer.write(data)
    async with asyncio.timeout(30):
        await writer.close()
    await end(set(threading.enumerate()) - before)
    assert (tmp_path / "out").read_bytes() == b"abc"


async def test_after_an_error_nothing_more_is_written(tmp_path: Path) -> None:
    class FullOnce(FileIO):
        is_full = True

        def write(self, data: Any, /) -> Any:
            if self.is_full:
                self.is_full = False
                raise OSError(errno.ENOSPC, "full")
            return super().write(data)

    before = set(threading.enumerate())
    writer, reported = ThreadWriter(FullOnce(tmp_path / "out", "wb")), asyncio.get_running_loop().create_future()
    writer.on_failure(reported.set_result)
    writer.write(b"a")
    writer.write(b"b")
    async with asyncio.timeout(30):
        assert "full" in str(await reported)
    with pytest.raises(OSError, match="full"):
        await writer.drain()
    writer.abort()
    await end(set(threading.enumerate()) - before)
    assert (tmp_path / "out").read_bytes() == b""


class NonBlocking(FileIO):
    """A pipe that sets an event when it has taken nothing because it is full."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd, "wb")
        os.set_blocking(fd, False)
        self.was_full = threading.Event()

    def write(self, data: Any, /) -> Any:
        written = super().write(data)
        if written is None:
            self.was_full.set()
        return written


@pytest.mark.skipif(sys.platform == "win32", reason="non-blocking pipes of POSIX")
@pytest.mark.parametrize("min_fd", [0, 1024])  # `select.select` can't wait for descriptors from 1024
def test_bytes_that_do_not_fit_are_written_when_there_is_room(min_fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[None] = []

    class Selector(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> Any:
            waits.append(None)
            return super().select(timeout)

    monkeypatch.setattr(selectors, "DefaultSelector", Selector)
    read, write = os.pipe()
    with FileIO(read, "rb") as reader, FileIO(write, "wb") as low:
        import fcntl  # not on Windows

        try:
            fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, min_fd)
        except OSError:
            pytest.skip("this process may not have so many files")
        data = bytes(range(256)) * 1000
        received: list[bytes] = []

        def read_all() -> None:
            file.was_full.wait(30)
            while sum(map(len, received)) < len(data):
                received.append(reader.read(len(data)))

        with NonBlocking(fd) as file:
            thread = threading.Thread(target=read_all, daemon=True)
            thread.start()
            write_all(file, data)
            thread.join(30)
    assert waits
    assert b"".join(received) == data
