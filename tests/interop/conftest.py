"""Installs the official SDKs, and runs all tests in one event loop, so that a peer can serve several tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.interop.reuse import close_all
from tests.support.interop.their_client import Command
from tests.support.paths import ROOT
from tests.support.scale import count
from tests.support.third_party import UnavailableError, python_in, python_sdk, skip_without, typescript_sdk

DEADLINE = count(120, 1800)
PEERS = ROOT / "tests/support/interop/peers"


def _python_sdk(script: str) -> Command:
    return [str(python_in(python_sdk())), str(PEERS / f"python_{script}.py")]


def _typescript_sdk(script: str) -> Command:
    return ["node", str(PEERS / f"typescript_{script}.mjs"), str(typescript_sdk())]


SDKS: dict[str, Callable[[str], Command]] = {"python": _python_sdk, "typescript": _typescript_sdk}


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


@pytest.fixture(scope="session", params=sorted(SDKS))
def sdk(request: pytest.FixtureRequest) -> str:
    """Return the name of an official SDK. Tests that use this fixture or one of its peers run with each SDK."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def their_agent(sdk: str) -> Command:
    """Return the command that starts the scripted agent of the SDK."""
    return _command(sdk, "agent")


@pytest.fixture(scope="session")
def their_tool_agent(sdk: str) -> Command:
    """Return the command that starts the agent of the SDK which calls what a prompt lists."""
    return _command(sdk, "tool_agent")


@pytest.fixture(scope="session")
def their_client(sdk: str) -> Command:
    """Return the command that starts the scripted client of the SDK."""
    return _command(sdk, "client")


def _command(sdk: str, script: str) -> Command:
    try:
        return SDKS[sdk](script)
    except UnavailableError as reason:
        skip_without(f"The {sdk} SDK can't be installed", reason)
