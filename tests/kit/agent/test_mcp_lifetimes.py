"""MCP servers end with the session, also if they are closed while they connect, are called, or misbehave."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.v1 import McpServerStdio
from acp_kit import agent
from acp_runtime import InternalError, InvalidParams
from tests.support.kit import mcp_server

# The group shares the import of mcp.
pytestmark = pytest.mark.xdist_group("packages")


def stdio(name: str, *args: str) -> McpServerStdio:
    return McpServerStdio(name=name, command=sys.executable, args=[mcp_server.__file__, *args], env=[])


async def started(pid: Path) -> int:
    """Wait until a server has written its process id."""
    while not (pid.exists() and pid.read_text()):
        await asyncio.sleep(0.01)
    return int(pid.read_text())


async def test_what_is_no_message_and_no_utf8_does_not_stop_a_server() -> None:
    async with agent.McpServers() as servers:
        await servers.connect([stdio("a", "noisy")])
        assert [tool.name for _, tool in await servers.tools()] == ["echo"]


async def test_closing_ends_servers_that_are_still_connecting(tmp_path: Path) -> None:
    servers = agent.McpServers()
    connecting = asyncio.create_task(servers.connect([stdio("a", "pid", str(tmp_path / "pid"), "silent")]))
    pid = await started(tmp_path / "pid")
    await servers.close()
    with pytest.raises(InternalError, match="The MCP server 'a' can't be used: it was closed"):
        await connecting
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_names_of_servers_that_are_still_connecting_are_taken() -> None:
    async with agent.McpServers() as servers:
        connecting = asyncio.create_task(servers.connect([stdio("a")]))
        await asyncio.sleep(0)
        with pytest.raises(InvalidParams, match="Two MCP servers have the name 'a'"):
            await servers.connect([stdio("a")])
        await connecting
        assert [*servers] == ["a"]


async def test_a_close_that_is_cancelled_at_once_still_closes(tmp_path: Path) -> None:
    servers = agent.McpServers()
    await servers.connect([stdio("a", "pid", str(tmp_path / "pid"))])

    async def close() -> None:
        closing.cancel()  # before the first wait
        await servers.close()

    closing = asyncio.create_task(close())
    with pytest.raises(asyncio.CancelledError):
        await closing
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_kind_of_server_that_the_kit_does_not_know_is_refused() -> None:
    server: Any = v1_unstable.McpServerAcp(name="a", server_id="x")
    async with agent.McpServers(http=True, sse=True) as servers:
        with pytest.raises(InvalidParams, match="because it is reached by acp"):
            await servers.connect([server])
