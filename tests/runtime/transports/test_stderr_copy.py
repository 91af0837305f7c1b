"""Rule 23: what the copy of an agent's stderr forwards and keeps, and how it ends."""

from __future__ import annotations

import asyncio
import io
import os
import select
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from io import FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from acp_runtime.transports.files import CAPACITY
from acp_runtime.transports.stderr import StderrCopy


@contextmanager
def copying(where: Any, max_tail: int = 100) -> Generator[tuple[StderrCopy, FileIO]]:
    """Yield a running copy, and the end of the pipe that the subprocess has."""
    copy = StderrCopy(where, max_tail)
    own = copy.open()
    copy.start()
    with FileIO(os.dup(own.fileno()), "wb") as of_subprocess:
        yield copy, of_subprocess
    copy.end()


async def until_copied(copy: StderrCopy) -> None:
    async with asyncio.timeout(30):
        while not copy.is_copied():
            await asyncio.sleep(0.001)


async def test_rule_23_the_copy_ends_although_a_descendant_keeps_stderr_open() -> None:
    with copying("capture") as (copy, of_descendant):
        of_descendant.write(b"last words")
        copy.end()
        await until_copied(copy)
        assert copy.tail == "last words"


@pytest.mark.parametrize("read_bytes", [1, CAPACITY])
async def test_rule_23_all_bytes_before_the_end_are_kept_and_none_after_it(
    read_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_runtime.transports.stderr.CAPACITY", read_bytes)
    monkeypatch.setattr(os, "urandom", lambda size: b"s".ljust(size, b"m"))  # the mark
    copy = StderrCopy("capture", 100)
    with FileIO(os.dup(copy.open().fileno()), "wb") as of_descendant:
        of_descendant.write(b"last\0words")
        copy.end()
        of_descendant.write(b"more")
        copy.start()
        await until_copied(copy)
    assert copy.tail == "last\0words"


@pytest.mark.skipif(sys.platform == "win32", reason="non-blocking pipes of POSIX")
async def test_rule_23_the_copy_ends_although_a_descendant_has_filled_stderr_without_blocking() -> None:
    forwarded = list[bytes]()
    has_begun, may_continue = threading.Event(), threading.Event()

    def forward(data: bytes) -> None:
        has_begun.set()
        may_continue.wait(30)
        forwarded.append(data)

    with copying(forward) as (copy, of_descendant):
        written = of_descendant.write(b"first")
        assert has_begun.wait(30)
        os.set_blocking(of_descendant.fileno(), False)
        for size in (select.PIPE_BUF, 1):
            while (count := of_descendant.write(b"x" * size)) is not None:
                written += count
        threading.Thread(target=copy.end).start()
        may_continue.set()
        await until_copied(copy)
    assert sum(map(len, forwarded)) == written


async def test_rule_23_without_an_end_mark_everything_is_forwarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("acp_runtime.transports.stderr.write_all", fail)
    copy = StderrCopy("capture", 100)
    with FileIO(os.dup(copy.open().fileno()), "wb") as of_subprocess:
        of_subprocess.write(b"last words")
        copy.end()
        copy.start()
    await until_copied(copy)
    assert copy.tail == "last words"


async def test_rule_23_the_tail_has_all_bytes_before_the_end_while_a_callable_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acp_runtime.transports.stderr.CAPACITY", 16)
    called, released = threading.Event(), threading.Event()

    def block(_: bytes) -> None:
        called.set()
        released.wait(30)

    copy = StderrCopy(block, 100)
    copy.open().write(b"these last words")
    copy.end()
    copy.start()
    assert await asyncio.to_thread(called.wait, 30)
    assert copy.tail == "these last words"
    released.set()
    await until_copied(copy)


async def test_rule_23_bytes_that_the_mark_of_the_end_begins_with_are_forwarded_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: b"\0" * size)  # the mark
    chunks, forwarded = list[bytes](), threading.Event()

    def forward(data: bytes) -> None:
        chunks.append(data)
        forwarded.set()

    with copying(forward) as (copy, of_subprocess):
        of_subprocess.write(b"a\0")
        assert forwarded.wait(5)
    await until_copied(copy)
    assert chunks == [b"a\0"]


async def test_rule_23_the_kept_end_of_stderr_may_begin_inside_of_a_character() -> None:
    with copying("capture", 2) as (copy, of_subprocess):
        of_subprocess.write("grüße".encode())
    await until_copied(copy)
    assert copy.tail == "\ufffde"


async def test_rule_23_a_callable_that_raises_gets_no_more_of_stderr(caplog: pytest.LogCaptureFixture) -> None:
    chunks, called = list[bytes](), threading.Event()

    def fail(data: bytes) -> None:
        chunks.append(data)
        called.set()
        raise error

    error = ZeroDivisionError()
    with copying(fail) as (copy, of_subprocess):
        of_subprocess.write(b"first ")
        assert called.wait(30)
        of_subprocess.write(b"second")
    await until_copied(copy)
    assert chunks == [b"first "]
    assert copy.tail == "first second"
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is error


@pytest.mark.parametrize("stream", [None, io.StringIO()])
async def test_rule_23_without_an_open_sys_stderr_the_agents_is_only_kept(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if stream is not None:
        stream.close()
    monkeypatch.setattr("sys.stderr", stream)
    with copying("inherit") as (copy, of_subprocess):
        of_subprocess.write(b"hello")
    await until_copied(copy)
    assert copy.tail == "hello"
    assert caplog.records == []


async def test_rule_23_captured_stderr_is_not_an_error(caplog: pytest.LogCaptureFixture) -> None:
    with copying("capture") as (copy, of_subprocess):
        of_subprocess.write(b"hello")
    await until_copied(copy)
    assert caplog.records == []


async def test_rule_23_bytes_reach_the_descriptor_of_sys_stderr_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr("sys.stderr", log)
        with copying("inherit") as (copy, of_subprocess):
            of_subprocess.write(b"\xff")
        await until_copied(copy)
    assert (tmp_path / "log").read_bytes() == b"\xff"


async def test_rule_23_text_is_flushed_to_a_sys_stderr_without_a_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stderr", TextIOWrapper(written, "utf-8"))
    with copying("inherit") as (copy, of_subprocess):
        of_subprocess.write(b"hello")
    await until_copied(copy)
    assert written.getvalue() == b"hello"


async def test_rule_23_the_file_for_stderr_has_the_permissions_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with copying(tmp_path / "log") as (copy, _):
        pass
    await until_copied(copy)
    assert (tmp_path / "log").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_rule_23_another_value_for_stderr_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Options\.stderr must be .*'devnull'"):
        StderrCopy("devnull", 100)  # type: ignore[arg-type]


async def test_rule_23_a_callable_that_blocks_does_not_keep_this_process_running() -> None:
    before = set(threading.enumerate())
    with copying("capture") as (copy, _):
        (thread,) = set(threading.enumerate()) - before
        assert thread.daemon
    await until_copied(copy)
