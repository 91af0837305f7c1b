"""Clients that are connected to an agent in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from acp_bindings.v1 import RemoteAgent, spawn_agent
from acp_runtime import Options
from tests.support.runtime.peer import PlainClient


def spawned(name: str, **options: Any) -> Any:
    """Spawn one of the agents of `raw_agents`."""
    return spawn_agent(PlainClient, *command_of(name), options=Options(**options))


def command_of(name: str) -> tuple[str, ...]:
    """Return the command of one of the agents of `raw_agents`."""
    return sys.executable, "-S", str(Path(__file__).with_name("raw_agents.py")), name


def script(code: str, **options: Any) -> Any:
    """Spawn an agent that is a Python script."""
    return spawn_agent(PlainClient, sys.executable, "-S", "-c", code, options=Options(**options))


async def opened(agent: RemoteAgent) -> RemoteAgent:
    """Initialize a connection and create a session."""
    await agent.initialize(protocol_version=1)
    await agent.session_new(cwd="/", mcp_servers=[])
    return agent


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
