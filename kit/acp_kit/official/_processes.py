"""The process at the other end, with the interface of `asyncio.subprocess.Process`. Its stdout is None."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Awaitable, Callable
from typing import Any

from acp_runtime import ProcessInfo
from acp_runtime.options import Stderr

# The stream holds at most about twice as many bytes. Further ones are dropped, so that the process never waits.
_STDERR_LIMIT = 512 * 1024


class StderrStream:
    """A stream of the stderr of a process, which drops bytes while it is full."""

    def __init__(self) -> None:
        self.stream: asyncio.StreamReader = asyncio.StreamReader(_STDERR_LIMIT)
        self._loop = asyncio.get_running_loop()
        self._is_full = False
        self._has_ended = False
        transport: Any = self
        self.stream.set_transport(transport)  # which the stream pauses and resumes

    def pause_reading(self) -> None:
        """Drop new bytes."""
        self._is_full = True

    def resume_reading(self) -> None:
        """Keep new bytes."""
        self._is_full = False

    def feed_from_thread(self, data: bytes) -> None:
        """Add bytes of the process, from another thread."""
        self._loop.call_soon_threadsafe(self._feed, data)

    def _feed(self, data: bytes) -> None:
        if not self._is_full and not self._has_ended:
            self.stream.feed_data(data)

    def end(self) -> None:
        """End the stream after the bytes that were added so far. Later ones are dropped."""
        self._loop.call_soon(self._end)

    async def end_after(self, wait_closed: Callable[[], Awaitable[object]]) -> None:
        """End the stream when the connection has ended by itself, because the process has exited."""
        await wait_closed()
        self.end()

    def _end(self) -> None:
        self._has_ended = True
        self.stream.feed_eof()


class ProcessStdin:
    """The stdin of a process, which only the connection writes to. It has the methods of a stream that end it.

    Args:
        process: the process.
    """

    def __init__(self, process: ProcessInfo) -> None:
        self._process = process
        self._closing: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Close it after what is written already. The process then ends, and with it the connection."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._process.close_stdin(), name="acp-stdin")

    def write_eof(self) -> None:
        """Do the same as `close`."""
        self.close()

    def is_closing(self) -> bool:
        """Whether it is closed or being closed."""
        return self._closing is not None or self._process.returncode is not None

    async def wait_closed(self) -> None:
        """Wait until it is closed."""
        if self._closing is not None:
            await asyncio.wait({self._closing})


class StartedProcess:
    """A process that a connection has started and will end.

    Args:
        process: the process.
        stderr: its stderr, if it was asked for.
    """

    stdout: None = None

    def __init__(self, process: ProcessInfo, stderr: asyncio.StreamReader | None) -> None:
        self._process = process
        self.pid: int = process.pid
        self.stdin: ProcessStdin = ProcessStdin(process)
        self.stderr: asyncio.StreamReader | None = stderr

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until the process has exited. Return its exit code."""
        return await self._process.wait()

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and its descendants."""
        self._process.kill()


def take_stderr(wanted: Any) -> tuple[Stderr, StderrStream | None]:
    """Return the runtime's option for an official `stderr` argument, and the stream if it is a pipe."""
    if wanted == PIPE:
        stream = StderrStream()
        return stream.feed_from_thread, stream
    if wanted is None:
        return "inherit", None
    if wanted in (DEVNULL, STDOUT):  # stdout is the connection's
        return "capture", None
    return _write_to(wanted if isinstance(wanted, int) else wanted.fileno()), None


def _write_to(descriptor: int) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        while data:
            data = data[os.write(descriptor, data) :]

    return write
