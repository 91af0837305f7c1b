"""Installs the official SDKs, and runs all tests in one event loop, so that a peer can serve several tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from tests.interop.reuse import close_all
from tests.interop.sdks import PYTHON, TYPESCRIPT, command
from tests.support.scale import count
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError

DEADLINE = count(280, 1800)


@pytest.fixture(scope="package")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner
        runner.run(_within_deadline(close_all()))
        left = asyncio.all_tasks(runner.get_loop())
        assert not left, f"The tests left tasks running: {left}"


@pytest.fixture(autouse=True)
def _uses_runner(runner: asyncio.Runner) -> None:
    """Make the fixture `runner` available to the hook that runs coroutine tests."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    runner: asyncio.Runner = pyfuncitem.funcargs["runner"]
    runner.run(_within_deadline(pyfuncitem.obj(**arguments)))
    return True


async def _within_deadline(test: Any) -> None:
    async with asyncio.timeout(DEADLINE):
        await test


@pytest.fixture(scope="session", params=[PYTHON, TYPESCRIPT])
def sdk(request: pytest.FixtureRequest) -> str:
    """Return the name of an official SDK, which is installed. Tests that use this fixture run with each SDK."""
    name: str = request.param
    try:
        command(name, "agent")
    except UnavailableError as reason:
        skip_without(f"The SDK {name} can't be installed", reason)
    return name
