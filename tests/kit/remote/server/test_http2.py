"""The same over HTTP/2: all streams of a client on one connection to the server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from acp_kit.remote import Bounds, agent_app
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import EVENTS, INITIALIZE, serving

_NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}


async def _megabytes() -> AsyncIterator[bytes]:
    for _ in range(100):
        yield b"x" * 100_000


async def test_a_body_that_is_too_big_does_not_end_the_streams_beside_it() -> None:
    async with (
        serving(agent_app(echo, bounds=Bounds(message_bytes=100_000)), "hypercorn") as site,
        httpx2.AsyncClient(http1=False, http2=True, base_url=f"http://127.0.0.1:{site.port}") as client,
    ):
        opened = await client.post("/acp", json=INITIALIZE)
        assert (opened.status_code, opened.http_version) == (200, "HTTP/2")
        id = {"Acp-Connection-Id": opened.headers["acp-connection-id"]}
        async with client.stream("GET", "/acp", headers={**id, **EVENTS}) as connection:
            json_type = {"Content-Type": "application/json"}
            refused = await client.post("/acp", headers={**id, **json_type}, content=_megabytes())
            assert refused.status_code == 413
            assert (await client.post("/acp", headers=id, json=_NEW)).status_code == 202
            lines = [line async for line in _until_data(connection)]
            assert '"sessionId":"s1"' in lines[-1]
            await client.delete("/acp", headers=id)


async def _until_data(response: httpx2.Response) -> AsyncIterator[str]:
    async for line in response.aiter_lines():
        yield line
        if line.startswith("data:"):
            return
