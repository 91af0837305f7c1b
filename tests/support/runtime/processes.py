"""Clients that are connected to an agent in a process of its own."""

from __future__ import annotations

import sys
from typing import Any

from acp_bindings.v1 import RemoteAgent, spawn_agent
from acp_runtime import Options
from tests.support.paths import ROOT
from tests.support.runtime.peer import PlainClient


def spawned(name: str, **options: Any) -> Any:
    """Spawn one of the agents of `tests.support.runtime.agents`."""
    command = (sys.executable, "-m", "tests.support.runtime.agents", name)
    return spawn_agent(PlainClient, *command, cwd=ROOT, options=Options(**options))


def script(code: str, **options: Any) -> Any:
    """Spawn an agent that is a Python script."""
    return spawn_agent(PlainClient, sys.executable, "-S", "-c", code, options=Options(**options))


async def opened(agent: RemoteAgent) -> RemoteAgent:
    """Initialize a connection and create a session."""
    await agent.initialize(protocol_version=1)
    await agent.session_new(cwd="/", mcp_servers=[])
    return agent
