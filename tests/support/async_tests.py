"""Tests that are coroutines run in a loop of their own, with a deadline, and may leave nothing running."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.runtime.peer import LINKS, Link
from tests.support.scale import count

DEADLINE = count(120, 1800)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deadline(seconds): how long the test may take")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    with no_leaks():
        asyncio.run(_within_deadline(pyfuncitem.obj(**arguments)))
    return True


async def _within_deadline(test: Any) -> None:
    async with asyncio.timeout(DEADLINE):
        await test
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"Tasks that nobody ended: {left}"


@contextmanager
def no_leaks() -> Iterator[None]:
    before, threads = _descriptors(), set(threading.enumerate())
    yield
    leaked = _descriptors() - before
    assert not leaked, f"Descriptors that nobody closed: {leaked}"
    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith("Dummy-"):
            continue  # Python's stand-in for a thread that it did not start, such as a test worker's
        thread.join(30)
        assert not thread.is_alive(), f"A thread that nobody ended: {thread}"


def _descriptors() -> set[str]:
    return set(os.listdir("/dev/fd")) if sys.platform != "win32" else set()


@pytest.fixture(params=sorted(LINKS))
def link(request: pytest.FixtureRequest) -> Link:
    """How two ends are joined; every test that asks for it runs over each kind."""
    return LINKS[request.param]
