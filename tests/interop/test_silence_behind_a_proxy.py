"""Connections on which nobody says anything for longer than the documented HAProxy waits."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from acp_kit.remote import agent_app
from tests.interop import sdks
from tests.support.kit.deployment import FOLDER, balancer
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import serving

pytestmark = [
    pytest.mark.xdist_group("SDKs"),
    pytest.mark.skipif(sys.platform == "win32", reason="HAProxy is for Unix"),
]


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_pings_keep_a_silent_client_behind_haproxy(
    scheme: str, sdk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_kit.remote.server.streams._KEEP_ALIVE", 0.2)
    config = tmp_path / "haproxy.cfg"
    text = (FOLDER / "haproxy.cfg").read_text("utf-8")
    assert text.count(" 60s") == 3
    config.write_text(text.replace(" 60s", " 1s"), "utf-8")
    async with serving(agent_app(echo), options={"ws_ping_interval": 0.2}) as site:
        one = f"127.0.0.1:{site.port}"
        with balancer(config, one, one) as address:
            async with sdks.connected(sdk, f"{scheme}://{address}/acp") as client:
                await client.initialize()
                session = (await client.call("session/new", {"cwd": "/", "mcpServers": []}))["sessionId"]
                for _ in range(2):
                    await _until_haproxy_has_waited_long_enough(address)
                await client.prompt("still there", session=session)
                assert await client.said() == ["still there"]


async def _until_haproxy_has_waited_long_enough(address: str) -> None:
    """Wait as long as it keeps a connection on which nothing comes."""
    reader, writer = await asyncio.open_connection(*address.split(":"))
    await reader.read()
    writer.close()
