"""Python programs that start as forks of a process that has used our package.

That takes a fraction of the CPU time. Where the start of a program is what a test is about, it uses `subprocess`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from subprocess import DEVNULL, PIPE
from typing import IO, Any

import pytest

from tests.support.paths import ROOT


class ForkServer:
    """The process that forks. It runs from its first use until the end of the tests."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        if self._process is None:
            self._control, theirs = socket.socketpair()
            command = [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())]
            # A program's text on stdout has to stay in Python's buffer, as it does when stdout is a pipe.
            env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
            with theirs:
                self._process = subprocess.Popen(
                    command, cwd=ROOT, env=env, stdin=DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
                )

    def stop(self) -> None:
        if self._process is not None and self._control is not None:
            self._control.close()
            try:
                self._process.wait(30)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def fork(self, request: Any, descriptors: list[int]) -> None:
        assert self._control is not None, "The test needs the fixture `fork_server`."
        data = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(self._control, [data], descriptors)
        self._control.sendall(data[sent:])


SERVER = ForkServer()


@pytest.fixture
def fork_server() -> None:
    """Let a test start programs with `Forked`."""
    SERVER.start()


@pytest.fixture(scope="session", autouse=True)
def _fork_server_ends() -> Iterator[None]:
    yield
    SERVER.stop()


class Forked:
    """A running program, with the methods of `subprocess.Popen` that tests use.

    Args:
        arguments: as of Python: `-m`, a module and its arguments, or `-c`, a program and its arguments.
        env: variables to add to the environment.
        streams: `stdin`, `stdout` and `stderr`: PIPE, which is the default, DEVNULL, a file or a descriptor.
    """

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None, **streams: Any) -> None:
        self.returncode: int | None = None
        with ExitStack() as stack:
            self.stdin, their_in = _ends(stack, streams.get("stdin", PIPE), "wb")
            self.stdout, their_out = _ends(stack, streams.get("stdout", PIPE), "rb")
            self.stderr, their_err = _ends(stack, streams.get("stderr", PIPE), "rb")
            # Unbuffered, because `select` doesn't know what a buffered reader has read ahead.
            self._status, status = _ends(stack, PIPE, "rb", buffering=0)
            SERVER.fork(
                {"arguments": arguments, "env": {**os.environ, **(env or {})}}, [their_in, their_out, their_err, status]
            )
        self.pid = int(self._status.readline())

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = int(self._status.readline())
            self._status.close()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: bytes = b"", timeout: float | None = None) -> tuple[bytes, bytes]:
        """Send bytes and EOF, and return what the program writes until it has ended."""
        with ThreadPoolExecutor(2) as pool:
            results = [pool.submit(_rest, stream) for stream in (self.stdout, self.stderr)]
            if self.stdin is not None:
                with suppress(BrokenPipeError):
                    self.stdin.write(input)
                    self.stdin.flush()
                with suppress(BrokenPipeError):
                    self.stdin.close()
            try:
                out, err = (result.result(timeout) for result in results)
                self.wait(timeout)
            except TimeoutError:
                self.kill()
                raise
        return out, err


def ran(*arguments: str, input: bytes = b"", timeout: float = 100, **streams: Any) -> tuple[int | None, bytes, bytes]:
    """Run a program to its end. Return its exit code and its output."""
    process = Forked(*arguments, **streams)
    out, err = process.communicate(input, timeout)
    return process.returncode, out, err


def _ends(stack: ExitStack, stream: Any, mode: str, buffering: int = -1) -> tuple[Any, int]:
    """Return our end of a stream, if there is one, and the program's, which the stack closes."""
    if stream == PIPE:
        read, write = os.pipe()
        ours, theirs = (write, read) if mode == "wb" else (read, write)
        stack.callback(os.close, theirs)
        return open(ours, mode, buffering), theirs
    if stream == DEVNULL:
        stream = os.open(os.devnull, os.O_RDWR)
        stack.callback(os.close, stream)
    return None, stream if isinstance(stream, int) else stream.fileno()


def _rest(stream: IO[bytes] | None) -> bytes:
    if stream is None or stream.closed:
        return b""
    with stream:
        return stream.read()
