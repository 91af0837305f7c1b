"""The SDKs with remote transports, ours among them: how their agents and clients are started."""

from __future__ import annotations

import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.interop.remote.our_client import OurClient
from tests.support.interop.reuse import shared
from tests.support.interop.their_client import Command, TheirClient, running
from tests.support.paths import ROOT
from tests.support.third_party import (
    NEXT_PYTHON_SDK,
    PYTHON_SDK,
    python_in,
    remote_python_sdk,
    remote_typescript_sdk,
)

PEERS = ROOT / "tests/support/interop/peers"
OURS, TYPESCRIPT, PYTHON, NEXT_PYTHON = "acp-bindings", "TypeScript 2.4.0", "Python 0.12.1", "Python 1.0.0rc3"
SDKS = (OURS, TYPESCRIPT, PYTHON, NEXT_PYTHON)
# Those with the v2 draft.
SDKS_OF_TWO_VERSIONS = (OURS, TYPESCRIPT, NEXT_PYTHON)
TRANSPORTS = {"WebSocket": "ws", "HTTP": "http"}

_REQUIREMENTS = {PYTHON: PYTHON_SDK, NEXT_PYTHON: NEXT_PYTHON_SDK}


def command(sdk: str, script: str) -> Command:
    """Return the command that starts a script of an SDK: `client`, `remote_agent`, `versions_client`.

    Raises:
        UnavailableError: if the SDK can't be installed.
    """
    if sdk == OURS:
        return [sys.executable, str(PEERS / f"our_{script}.py")]
    if sdk == TYPESCRIPT:
        return ["node", str(PEERS / f"typescript_{script}.mjs"), str(remote_typescript_sdk())]
    return [str(python_in(remote_python_sdk(_REQUIREMENTS[sdk]))), str(PEERS / f"python_{script}.py")]


async def url(sdk: str, transport: str, path: str = "acp") -> str:
    """Return the URL of an agent of an SDK. One process serves all its agents to all tests."""
    host = await shared(command(sdk, "remote_agent"), lambda: _serving(sdk))
    return f"{TRANSPORTS[transport]}://{host}/{path}"


@asynccontextmanager
async def connected(sdk: str, url: str) -> AsyncIterator[TheirClient]:
    """Connect a client of an SDK to the agent behind a URL, and yield it before it calls `initialize`."""
    if sdk == OURS:
        async with OurClient.connected(url) as ours:
            yield ours
        return
    program = command(sdk, "client")
    client = (await shared(program, lambda: running(program))).connect(url)
    try:
        yield client
    finally:
        await client.end()


@asynccontextmanager
async def _serving(sdk: str) -> AsyncIterator[str]:
    process = await create_subprocess_exec(*command(sdk, "remote_agent"), stdin=PIPE, stdout=PIPE)
    try:
        assert process.stdout
        host = (await process.stdout.readline()).decode().strip()
        assert host, f"The agent of {sdk} has not begun to listen"
        yield host
    finally:
        await _stop(process)


async def _stop(process: Process) -> None:
    assert process.stdin
    process.stdin.close()
    await process.wait()
