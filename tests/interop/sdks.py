"""The SDKs, ours among them, and the transports: how agents and clients are started and connected."""

from __future__ import annotations

import asyncio
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from tests.interop.driver import Command, Driver, running
from tests.interop.our_driver import OurDriver
from tests.interop.reuse import reused, shared
from tools.third_party import NEXT_PYTHON_SDK, PYTHON_SDK, python_in, python_sdk, typescript_sdk

PEERS = Path(__file__).with_name("peers")
OURS, TYPESCRIPT, PYTHON, NEXT_PYTHON = "acp-bindings", "TypeScript 2.4.0", "Python 0.12.1", "Python 1.0.0rc3"
SDKS = (OURS, TYPESCRIPT, PYTHON, NEXT_PYTHON)
# Those with the v2 draft.
SDKS_OF_TWO_VERSIONS = (OURS, TYPESCRIPT, NEXT_PYTHON)
STDIO = "stdio"
TRANSPORTS = {STDIO: "", "WebSocket": "ws", "HTTP": "http"}

_REQUIREMENTS = {PYTHON: PYTHON_SDK, NEXT_PYTHON: NEXT_PYTHON_SDK}
_STARTING = 60  # seconds for a client to start and to open a session


def command(sdk: str, script: str) -> Command:
    """Return the command that starts a script of an SDK, such as `client` or `remote_agent`.

    Raises:
        UnavailableError: if the SDK can't be installed.
    """
    if sdk == OURS:
        return [sys.executable, str(PEERS / f"our_{script}.py")]
    if sdk == TYPESCRIPT:
        return ["node", str(PEERS / f"typescript_{script}.mjs"), str(typescript_sdk())]
    return [str(python_in(python_sdk(_REQUIREMENTS[sdk]))), str(PEERS / f"python_{script}.py")]


async def agent(sdk: str, transport: str, versions: str = "") -> Command | str:
    """Return the command or URL of the agent of the contract, or of one of some versions.

    One process of an SDK serves all the URLs to all tests.
    """
    if transport == STDIO:
        return [*command(sdk, "versions_agent"), versions] if versions else command(sdk, "agent")
    host = await shared(command(sdk, "remote_agent"), lambda: _serving(sdk))
    return f"{TRANSPORTS[transport]}://{host}/{versions or 'acp'}"


@asynccontextmanager
async def connected(sdk: str, target: Command | str, version: str = "1") -> AsyncIterator[Driver]:
    """Connect a client of an SDK to an agent, and yield it before it calls `initialize`."""
    if sdk == OURS:
        async with OurDriver.connected(target) as ours:
            yield ours
        return
    program = command(sdk, "client")
    client = (await shared(program, lambda: running(program))).connect(target, version)
    try:
        yield client
    finally:
        await client.end()
    assert target != command(OURS, "agent") or client.agent_exit_code == 0


@asynccontextmanager
async def opened(sdk: str, target: Command | str) -> AsyncIterator[Driver]:
    """Connect a client of an SDK to an agent, and yield it with the session `new`."""
    async with connected(sdk, target) as client:
        async with asyncio.timeout(_STARTING):
            await client.open()
        yield client


def in_session(sdk: str, target: Command | str) -> AbstractAsyncContextManager[Driver]:
    """Connect a client of an SDK to an agent with the session `new`. Later tests reuse the connection to a process."""
    if isinstance(target, str):
        return opened(sdk, target)
    return reused([sdk, *target], lambda: opened(sdk, target))


@asynccontextmanager
async def _serving(sdk: str) -> AsyncIterator[str]:
    process = await create_subprocess_exec(*command(sdk, "remote_agent"), stdin=PIPE, stdout=PIPE)
    assert process.stdin
    assert process.stdout
    try:
        host = (await process.stdout.readline()).decode().strip()
        assert host, f"The agent of {sdk} has not begun to listen"
        yield host
    finally:
        process.stdin.close()
        await process.wait()
