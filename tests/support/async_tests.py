"""A pytest plugin that runs coroutine tests: each in its own event loop, with a deadline and a check for leaks."""

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
    config.addinivalue_line("markers", "every_link: run the tests of this module over each kind of transport")


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
    assert not left, f"The test left tasks running: {left}"


@contextmanager
def no_leaks() -> Iterator[None]:
    """Fail if the block leaves descriptors open or threads running."""
    before, threads = _descriptors(), set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith("Dummy-"):
            continue  # represents a thread that Python did not start, such as a test worker's
        thread.join(30)
        assert not thread.is_alive(), f"The test left a thread running: {thread}"
    # Only now, because a thread may close some at its end.
    leaked = _descriptors() - before
    assert not leaked, f"The test left descriptors open: {leaked}"


def _descriptors() -> set[str]:
    return set(os.listdir("/dev/fd")) if sys.platform != "win32" else set()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "link" in metafunc.fixturenames and metafunc.definition.get_closest_marker("every_link"):
        metafunc.parametrize("link", sorted(LINKS), indirect=True)


@pytest.fixture
def link(request: pytest.FixtureRequest) -> Link:
    """Return a function that joins two ends in memory. A module marked `every_link` runs over each transport."""
    return LINKS[getattr(request, "param", "memory")]
