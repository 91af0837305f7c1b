"""Work in forks of this process, which report in lines of JSON."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

Report = Callable[[Any], None]
# A process that uses less of a processor than this waits for something that doesn't come.
_IDLE = 0.02
# An environment variable by which the programs that tests start are found.
_RUN = "MUTANTS_RUN"


class Fork(NamedTuple):
    """A fork of this process, and the descriptor of its reports."""

    pid: int
    read: int


@contextmanager
def fork(work: Callable[[Report], None]) -> Generator[Fork]:
    """Run some work in a fork, which is killed at the end of the block."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.setpgid(0, 0)
        _work(work, write)
    os.close(write)
    try:
        yield Fork(pid, read)
    finally:
        os.close(read)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)  # the fork may not have its group yet
        os.waitpid(pid, 0)


def _work(work: Callable[[Report], None], write: int) -> None:
    def report(value: Any) -> None:
        os.write(write, json.dumps(value).encode() + b"\n")

    try:
        work(report)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        sys.stdout.flush()
        os._exit(0)


def reports(work: Fork, patience: Callable[[Any], float] | None = None) -> Iterator[Any]:
    """Yield the reports until the fork ends.

    Args:
        work: the fork.
        patience: returns how many seconds to wait for the report after this one. If the fork only lacks processor
            time, it gets as many seconds of that.

    Raises:
        TimeoutError: no report came in time.
    """
    data = b""
    wait = None if patience is None else _Wait(work.pid, patience(None))
    while True:
        left = None if wait is None else wait.left()
        if not select.select([work.read], [], [], left)[0]:
            continue
        received = os.read(work.read, 65536)
        if not received:
            return
        *lines, data = (data + received).split(b"\n")
        for line in lines:
            value = json.loads(line)
            if patience is not None:
                wait = _Wait(work.pid, patience(value))
            yield value


class _Wait:
    """A wait for a process, of some seconds in which it runs or waits for something itself."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._began_at = self._used = _read_processor_seconds(pid)

    def left(self) -> float:
        """Return how many seconds to wait now.

        Raises:
            TimeoutError: the wait is over.
        """
        left = self._end - time.monotonic()
        if left > 0:
            return left
        used = _read_processor_seconds(self._pid)
        if used - self._used < _IDLE * self._seconds or used - self._began_at > self._seconds:
            raise TimeoutError
        self._used = used
        self._end = time.monotonic() + self._seconds / 2
        return self._seconds / 2


def _read_processor_seconds(pid: int) -> float:
    """Return how much processor time a process has used; 0 where the system doesn't say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(count: int, jobs: int, work: Callable[[int], Any]) -> Iterator[tuple[int, Any]]:
    """Do work for the numbers below `count` in some forks. Yield each number and what the work returned."""
    queue, numbers = os.pipe()
    os.write(numbers, b"".join(number.to_bytes(4, "big") for number in range(count)))  # a pipe holds 16,000 of them
    os.close(numbers)

    def worker(report: Report) -> None:
        while number := os.read(queue, 4):
            index = int.from_bytes(number, "big")
            report([index, work(index)])

    try:
        with _start_forks([worker] * jobs) as forks:
            yield from _merge_reports(forks)
    finally:
        os.close(queue)


@contextmanager
def _start_forks(works: list[Callable[[Report], None]]) -> Generator[list[Fork]]:
    if not works:
        yield []
        return
    with fork(works[0]) as first, _start_forks(works[1:]) as others:
        yield [first, *others]


def _merge_reports(forks: list[Fork]) -> Iterator[Any]:
    data = dict.fromkeys((work.read for work in forks), b"")
    while data:
        for read in select.select(list(data), [], [])[0]:
            received = os.read(read, 65536)
            *lines, rest = (data[read] + received).split(b"\n")
            if received:
                data[read] = rest
            else:
                del data[read]
            for line in lines:
                yield json.loads(line)


@contextmanager
def use_own_temporary_folder() -> Generator[None]:
    """Give the tests of this process a temporary folder that is deleted at the end."""
    folder = tempfile.mkdtemp(prefix="mutants-")
    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def end_programs_afterwards() -> Generator[None]:
    """Kill the programs that a test has started and not ended, because of a change. Only on Linux."""
    os.environ[_RUN] = str(os.getpid())
    mark = f"{_RUN}={os.getpid()}".encode()
    try:
        yield
    finally:
        for file in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # a process of somebody else, or one that has ended
                if mark in file.read_bytes().split(b"\0"):
                    os.kill(int(file.parent.name), signal.SIGKILL)
