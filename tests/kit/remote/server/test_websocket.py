"""Agents over WebSocket: which messages are accepted, limits for each client, and the end of a connection."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from acp_kit.remote import Bounds, agent_app
from acp_runtime.transports import Transport
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import INITIALIZE, JSON, SERVERS, Site, serving

_HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
_BOTH = pytest.mark.parametrize("server", SERVERS)


def _connect(site: Site, *, compression: str | None = None) -> connect:
    return connect(f"ws://127.0.0.1:{site.port}/acp", compression=compression, max_size=None)


async def _ask(client: ClientConnection, message: Any = INITIALIZE) -> Any:
    await client.send(json.dumps(message))
    return json.loads(await client.recv())


async def _closing_code(client: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await client.recv()
    return closed.value.rcvd.code if closed.value.rcvd else None


@_BOTH
async def test_a_websocket_has_an_id_and_each_text_frame_is_a_message(server: str) -> None:
    async with serving(agent_app(echo), server) as site, _connect(site) as client:
        assert client.response
        assert len(client.response.headers["Acp-Connection-Id"]) * 6 >= 128
        await client.send(b"\xff\x00")  # binary and empty frames mean nothing
        await client.send("")
        await client.send(json.dumps(INITIALIZE, indent=1).replace("\n", "\r\n"))
        assert json.loads(await client.recv())["result"]["protocolVersion"] == 1


@_BOTH
async def test_other_hosts_and_sites_are_refused(server: str) -> None:
    async with serving(agent_app(echo), server, errors=None) as site:  # uvicorn logs refusals as errors
        for headers in ({"Host": "attacker.example"}, {"Origin": "https://attacker.example"}, {"Origin": "null"}):
            assert (await site.request("GET", {**_HANDSHAKE, **headers})).status == 403, headers


async def test_wsproto_serves_messages_in_fragments_up_to_the_limit() -> None:
    app = agent_app(echo, bounds=Bounds(message_bytes=100_000))
    async with serving(app, options={"ws": "wsproto"}) as site, _connect(site) as client:
        await client.send(json.dumps(INITIALIZE))
        assert json.loads(await client.recv())["id"] == 0
        await client.send([*json.dumps({**INITIALIZE, "id": 1, "method": "_x"}), "", ""])
        assert json.loads(await client.recv())["id"] == 1
        with suppress(ConnectionClosed):
            await client.send(["x" * 10_000] * 20)
        assert await _closing_code(client) == 1009


async def test_only_the_agent_can_answer_initialize() -> None:
    app = agent_app(echo, bounds=Bounds(first_bytes=1000))
    async with serving(app) as site, _connect(site) as client:
        assert "error" in await _ask(client, {**INITIALIZE, "params": {"protocolVersion": "invalid"}})
        await client.send(json.dumps({"jsonrpc": "2.0", "id": INITIALIZE["id"], "result": {}}))
        await client.send("x" * 1001)
        assert await _closing_code(client) == 1009


async def test_initialize_may_be_answered_twice_at_once() -> None:
    answer = b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % INITIALIZE["id"]

    async def serve(transport: Transport, _: None) -> None:
        await transport.receive()
        await transport.send(answer * 2)
        while line := await transport.receive():
            await transport.send(line)

    async with serving(agent_app(serve)) as site, _connect(site) as client:
        for message in (INITIALIZE, {}):
            assert "result" in await _ask(client, message)
        assert json.loads(await client.recv()) == {}


@_BOTH
async def test_websockets_count_as_connections(server: str) -> None:
    app = agent_app(echo, bounds=Bounds(connections=1))
    async with serving(app, server, errors=None) as site, _connect(site):  # uvicorn logs refusals as errors
        with pytest.raises(InvalidStatus) as refused:
            await _connect(site)
        assert refused.value.response.status_code == 503
        assert (await site.request("POST", JSON, INITIALIZE)).status == 503


@_BOTH
async def test_a_bomb_or_20_megabytes_close_only_their_websocket(server: str) -> None:
    async with serving(agent_app(echo), server) as site, _connect(site) as other:
        for compression in ("deflate", None):
            url = f"ws://127.0.0.1:{site.port}/acp"
            async with connect(url, compression=compression, close_timeout=1) as client:
                with suppress(ConnectionClosed):
                    await client.send("x" * 20_000_000)
                await client.close()  # hypercorn doesn't close the TCP connection on its own
                assert client.close_code == 1009
        assert (await _ask(other))["id"] == 0


@_BOTH
async def test_broken_utf_8_closes_only_its_websocket(server: str) -> None:
    async with serving(agent_app(echo), server, errors=None) as site, _connect(site) as other:  # uvicorn logs it
        async with _connect(site) as client:
            await client.send(b'"\xff"', text=True)
            await _closing_code(client)
        assert (await _ask(other))["id"] == 0


@_BOTH
async def test_a_client_that_never_reads_loses_its_websocket(server: str) -> None:
    failed = asyncio.Queue[int]()

    async def serve(transport: Transport, _: None) -> None:
        sent, line = 0, b'"%b"\n' % (b"x" * 10_000)  # a larger message may take longer
        opening = await transport.receive()
        try:
            while sent < 10_000 and b"flood" in opening:
                await transport.send(line)
                sent += 1
        except TimeoutError:
            failed.put_nowait(sent)
        while await transport.receive():
            await transport.send(opening)

    async with serving(agent_app(serve, bounds=Bounds(unread_seconds=0.2)), server) as site, _connect(site) as other:
        reader, writer = await site.begin("GET", _HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()
        writer.write(b'\x81\x87\0\0\0\0"flood"')
        await other.send("{}")
        assert await _ask(other, {}) == {}
        assert await failed.get() < 3200  # the buffers of the system and of the server
        assert await _ask(other, {}) == {}
        writer.transport.abort()


@pytest.mark.parametrize("is_on", [False, True])
async def test_compression_is_off_by_default_and_inflated_messages_have_the_limit(is_on: bool) -> None:
    options = {"ws_per_message_deflate": True} if is_on else {}
    app = agent_app(echo, bounds=Bounds(message_bytes=100_000))
    async with serving(app, options=options) as site, _connect(site, compression="deflate") as client:
        assert client.response
        assert ("Sec-WebSocket-Extensions" in client.response.headers) == is_on
        assert (await _ask(client))["id"] == 0
        await client.send("x" * 100_001)
        assert await _closing_code(client) == 1009
