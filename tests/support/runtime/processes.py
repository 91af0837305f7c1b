"""Agents in processes of their own, at the other end of a client."""

from __future__ import annotations

import sys
from typing import Any

from acp_bindings.v1 import RemoteAgent, spawn_agent
from acp_runtime import Options
from tests.support.paths import ROOT
from tests.support.runtime.peer import PlainClient


def spawned(name: str, **options: Any) -> Any:
    command = (sys.executable, "-m", "tests.support.runtime.agents", name)
    return spawn_agent(PlainClient, *command, cwd=ROOT, options=Options(**options))


def script(code: str, **options: Any) -> Any:
    return spawn_agent(PlainClient, sys.executable, "-c", code, options=Options(**options))


async def opened(agent: RemoteAgent) -> RemoteAgent:
    await agent.initialize(protocol_version=1)
    await agent.session_new(cwd="/", mcp_servers=[])
    return agent
