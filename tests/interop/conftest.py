"""The peers that others wrote: installed once, started anew by every test that asks for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed import UnavailableError, npm_package, pypi_package, python_in
from tests.interop.their_client import Command
from tests.runtime.conftest import pytest_pyfunc_call  # noqa: F401

PYTHON_SDK = "agent-client-protocol==0.12.1"
TYPESCRIPT_SDK = "@agentclientprotocol/sdk@2.0.0"
ZOD = "zod@4.6.7"
PEERS = Path(__file__).with_name("peers")


def _python_sdk(script: str) -> Command:
    folder = pypi_package(PYTHON_SDK.replace("==", "@"), PYTHON_SDK)
    return [str(python_in(folder)), str(PEERS / f"python_{script}.py")]


def _typescript_sdk(script: str) -> Command:
    folder = npm_package(TYPESCRIPT_SDK.rpartition("/")[2], TYPESCRIPT_SDK, ZOD)
    return ["node", str(PEERS / f"typescript_{script}.mjs"), str(folder)]


SDKS: dict[str, Callable[[str], Command]] = {"python": _python_sdk, "typescript": _typescript_sdk}


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
        pytest.skip(f"The {sdk} SDK can't be installed: {reason}.")
