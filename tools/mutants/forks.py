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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

Report = Callable[[Any], None]


@contextmanager
def fork(work: Callable[[Report], None]) -> Iterator[int]:
    """Run some work in a fork, which is killed at the end of the block. Yield the descriptor of its reports."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.setpgid(0, 0)
        _work(work, write)
    os.close(write)
    try:
        yield read
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


def reports(read: int, patience: Callable[[Any], float] | None = None) -> Iterator[Any]:
    """Yield the reports until the fork ends.

    Args:
        read: the descriptor.
        patience: returns how many seconds to wait for the report after this one.

    Raises:
        TimeoutError: no report came in time.
    """
    data, deadline = b"", None
    if patience is not None:
        deadline = time.monotonic() + patience(None)
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([read], [], [], left)[0]:
            raise TimeoutError
        received = os.read(read, 65536)
        if not received:
            return
        *lines, data = (data + received).split(b"\n")
        for line in lines:
            value = json.loads(line)
            if patience is not None:
                deadline = time.monotonic() + patience(value)
            yield value


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
        with _many_forks([worker] * jobs) as descriptors:
            yield from _merged(descriptors)
    finally:
        os.close(queue)


@contextmanager
def _many_forks(works: list[Callable[[Report], None]]) -> Iterator[list[int]]:
    if not works:
        yield []
        return
    with fork(works[0]) as first, _many_forks(works[1:]) as others:
        yield [first, *others]


def _merged(descriptors: list[int]) -> Iterator[Any]:
    data = dict.fromkeys(descriptors, b"")
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
def own_folder_for_temporary_files() -> Iterator[None]:
    """Give the tests of this process a temporary folder that is deleted at the end."""
    folder = tempfile.mkdtemp(prefix="mutants-")
    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
