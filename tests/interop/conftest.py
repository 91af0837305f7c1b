"""The peers that others wrote, installed once. All tests share one loop, so that peers can serve several of them."""

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
        assert not left, f"Tasks that nobody ended: {left}"


@pytest.fixture(autouse=True)
def _runs_here(runner: asyncio.Runner) -> None:
    """Tests that are coroutines run in `runner`."""


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
    """An official SDK; every test that asks for it, or for a peer written with it, runs with each."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def their_agent(sdk: str) -> Command:
    """How to start the scripted agent that is written with the SDK."""
    return _command(sdk, "agent")


@pytest.fixture(scope="session")
def their_client(sdk: str) -> Command:
    """How to start the scripted client that is written with the SDK."""
    return _command(sdk, "client")


def _command(sdk: str, script: str) -> Command:
    try:
        return SDKS[sdk](script)
    except UnavailableError as reason:
        skip_without(f"The {sdk} SDK can't be installed", reason)
