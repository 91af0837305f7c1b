"""Hostile clients try to fill the server's memory: it stays below its limit, and other clients are served.

Each case sends several times as much as the process may hold. `make test` runs it with limits that are a 64th of the
default ones, `make stress` with those.
"""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.kit.remote.server.hostile_server import Victim, WebSocket, frame, message, victim
from tests.support.kit.remote_servers import EVENTS, INITIALIZE, JSON
from tests.support.scale import STRESS, count

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.stress,
    pytest.mark.xdist_group("acp_kit.remote.hostile"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads what a process takes from /proc"),
]
UNIT = count(16 * 1024, 1024 * 1024)
FIRST, MESSAGE, CONNECTION, PROCESS = UNIT, 16 * UNIT, 320 * UNIT, 512 * UNIT
# The pool of those that are not initialized, one message while it is read, and what Python takes for itself.
ALLOWED = PROCESS + PROCESS // 16 + 16 * MESSAGE + 16 * 1024 * 1024
_BOUNDS = {
    "first_bytes": FIRST,
    "message_bytes": MESSAGE,
    "connection_bytes": CONNECTION,
    "process_bytes": PROCESS,
    "unread_bytes": 64 * UNIT,
    "first_seconds": 5.0,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Victim]:
    with victim(_BOUNDS, ws_per_message_deflate=True) as server:
        yield server


@asynccontextmanager
async def attacked(server: Victim, allowed: int = ALLOWED) -> AsyncGenerator[list[WebSocket]]:
    """Measure the block. Another client is served all the time. Close the WebSockets that the block leaves."""
    before = server.open_files
    other = await server.websocket()
    answer = asyncio.create_task(other.next())  # which answers pings
    server.start()
    sockets: list[WebSocket] = []
    try:
        yield sockets
        await other.send(frame(message("session/new", {"cwd": "/", "mcpServers": []}, id=1)))
        assert b"sessionId" in await answer
        sys.stdout.write(f"{server.peak >> 20} MiB at most, of {allowed >> 20}; now {server.now >> 20}\n")
        assert server.peak <= allowed
    finally:
        answer.cancel()
        for socket in [*sockets, other]:
            await socket.close()
        for _ in range(60):  # what a busy server has still to free isn't of the next case
            if server.open_files <= before:
                break
            await asyncio.sleep(0.05)


async def test_half_a_message_before_initialize_takes_little_time(server: Victim) -> None:
    deflate = zlib.compressobj(wbits=-15)
    half = deflate.compress(b"x" * 15 * UNIT) + deflate.flush(zlib.Z_SYNC_FLUSH)
    bomb = frame(half, fin=False, deflated=True)
    async with attacked(server, 10 * 2 * MESSAGE + 8 * 1024 * 1024) as sockets:
        for _ in range(10):
            sockets.append(await server.websocket(bomb, initialize=False, deflate=True))
        assert [await socket.until_closed() for socket in sockets] == [1008] * 10


@pytest.mark.parametrize("size", [FIRST, FIRST + 1])
async def test_the_first_message_has_its_limit(server: Victim, size: int) -> None:
    opening = message("initialize", {"protocolVersion": 1, "_meta": {"x": ""}}, id=0)
    opening = opening.replace(b'""', b'"%b"' % (b"x" * (size - len(opening))))
    socket = await server.websocket(frame(opening), initialize=False)
    if size == FIRST:
        assert b'"result"' in await socket.next()
        await socket.close()
    else:
        assert await socket.until_closed() == 1009
    response = await server.request("POST", JSON, opening)
    assert response.status == (200 if size == FIRST else 413)


async def test_a_message_of_the_full_size_is_received_although_it_is_not_ascii(server: Victim) -> None:
    async with attacked(server) as sockets:
        text = "x" * (15 * UNIT) + "\U0001f600"
        for ensure_ascii in (False, True):
            body = json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "_x", "params": {"x": text}}, ensure_ascii=ensure_ascii
            )
            sockets.append(socket := await server.websocket(frame(body.encode())))
            assert await socket.next() == b'{"jsonrpc":"2.0","id":1,"result":{}}'


@pytest.mark.parametrize("size", [MESSAGE, MESSAGE + 1])
async def test_one_byte_more_closes_the_websocket(server: Victim, size: int) -> None:
    async with attacked(server) as sockets:
        sockets.append(socket := await server.websocket())
        body = message("_x", {"x": ""}, id=1)
        await socket.send(frame(body.replace(b'""', b'"%b"' % (b"x" * (size - len(body))))))
        if size == MESSAGE:
            assert b'"id":1' in await socket.next()
        else:
            assert await socket.until_closed() == 1009


@pytest.mark.parametrize("deflated", [False, True], ids=["frames", "bombs"])
async def test_incomplete_messages_of_all_connections_have_a_limit(deflated: bool) -> None:
    """uvicorn holds them, so they don't count: each connection may have one of the largest messages."""
    begun = frame(b'"' + b"x" * (MESSAGE * 3 // 4), length=MESSAGE)
    if deflated:
        deflate = zlib.compressobj(wbits=-15)
        bomb = deflate.compress(b'"' + b"x" * (MESSAGE * 3 // 4)) + deflate.flush(zlib.Z_SYNC_FLUSH)
        begun = frame(bomb, fin=False, deflated=True)
    with victim({**_BOUNDS, "connections": 20}, ws_per_message_deflate=True) as server:
        async with attacked(server, 20 * 2 * MESSAGE + 16 * 1024 * 1024) as sockets:
            for _ in range(19):
                sockets.append(await server.websocket(begun, deflate=deflated))
            refused = await server.websocket(initialize=False)
            assert b" 503 " in refused.head
            sockets.append(refused)


@pytest.mark.parametrize("size", [0, 1])
async def test_a_message_in_small_fragments_takes_little_memory(server: Victim, size: int) -> None:
    fragments = frame(b"x" * size, opcode=0, fin=False) * 10_000
    async with attacked(server) as sockets:
        sockets.append(socket := await server.websocket(frame(b'"', fin=False)))
        await socket.send(*[fragments] * count(2, 400))


async def test_messages_that_the_agent_holds_have_a_limit(server: Victim) -> None:
    # For each WebSocket, uvicorn holds a message that waits for the agent, and an incomplete one.
    async with attacked(server, ALLOWED + count(6, 20) * 2 * MESSAGE) as sockets:
        for _ in range(count(6, 20)):
            sockets.append(socket := await server.websocket())
            for number in range(6):
                await socket.send(frame(message("_hold", {"x": "x" * (MESSAGE * 3 // 4)}, id=number)))


async def test_json_that_takes_a_hundred_times_its_bytes_has_a_limit(server: Victim) -> None:
    for element in (b"[]", b'{"a":1}', b'"a"'):
        body = b'{"jsonrpc":"2.0","id":1,"method":"_hold","params":{"x":[%b]}}' % b",".join(
            [element] * (MESSAGE // 2 // (len(element) + 1))
        )
        async with attacked(server) as sockets:
            for _ in range(count(4, 10)):
                sockets.append(await server.websocket(*[frame(body)] * 4))


async def test_many_small_messages_at_once_take_little_memory(server: Victim) -> None:
    async with attacked(server) as sockets:
        hold = frame(message("_hold", {"x": ["y"]}, id="z")) * 1000
        for _ in range(count(2, 20)):
            sockets.append(await server.websocket(*[hold] * 5))


@pytest.mark.skipif(not STRESS, reason="Linux sometimes takes a minute to end such a connection: make stress")
async def test_pings_of_a_client_that_does_not_read_end_its_connection() -> None:
    """uvicorn holds the pongs, until the system ends the TCP connection."""
    pings = frame(b"x" * 125, opcode=9) * 1000
    with victim({**_BOUNDS, "unread_seconds": 1.0}) as server:
        socket = await server.websocket()
        socket.stop_reading()
        while await socket.send(pings):
            pass
        await (await server.websocket()).close()


async def test_what_is_sent_to_websockets_that_do_not_read_has_a_limit(server: Victim) -> None:
    async with attacked(server) as sockets:
        for _ in range(count(10, 20)):
            sockets.append(socket := await server.websocket())
            socket.stop_reading()
            flood = {"sessions": 1000, "size": UNIT // 3, "count": 20}
            await socket.send(frame(message("_flood", flood, id=1)))
        for _ in range(20):
            await server.request("GET", {})


async def test_what_is_sent_to_sessions_without_a_stream_has_a_limit(server: Victim) -> None:
    flood = {"sessions": 40, "size": UNIT // 3, "count": 500}
    async with attacked(server):
        for _ in range(count(4, 12)):
            id = await server.initialize()
            assert (await server.post(id, {**INITIALIZE, "method": "_flood", "params": flood})).status == 202
        for _ in range(20):
            await server.request("GET", {})


async def test_what_is_sent_to_streams_that_are_not_read_has_a_limit(server: Victim) -> None:
    flood = {"sessions": 30, "size": 8 * UNIT, "count": 10}
    async with attacked(server):
        writers: list[asyncio.StreamWriter] = []
        for _ in range(count(4, 12)):
            id = await server.initialize()
            for number in range(30):
                headers = {**EVENTS, "Acp-Connection-Id": id, "Acp-Session-Id": f"flood{number}"}
                reader, writer = await server.begin("GET", headers)
                await reader.readuntil(b":\n\n")
                writer.transport.pause_reading()
                writers.append(writer)
            assert (await server.post(id, {**INITIALIZE, "method": "_flood", "params": flood})).status == 202
        for _ in range(20):
            await server.request("GET", {})
        for writer in writers:
            writer.transport.abort()


@pytest.mark.parametrize("is_open", [False, True], ids=["first", "open"])
async def test_bodies_that_are_not_complete_have_a_limit(server: Victim, is_open: bool) -> None:
    size = MESSAGE * 3 // 4 if is_open else FIRST * 3 // 4
    writers: list[asyncio.StreamWriter] = []
    async with attacked(server):
        for _ in range(count(40, 100) if is_open else 400):
            id = {"Acp-Connection-Id": await server.initialize()} if is_open else {}
            length = {"Content-Length": str(size + 1)}
            _, writer = await server.begin("POST", {**JSON, **id, **length}, b" " * size)
            writers.append(writer)
            try:
                await writer.drain()
            except ConnectionError:
                continue
        for _ in range(20):
            await server.request("GET", {})
    for writer in writers:
        writer.transport.abort()


async def test_bodies_that_come_during_authentication_have_a_limit() -> None:
    """uvicorn may read 320 KiB of each. What exceeds the limit is dropped with the response."""
    requests, size = 2 * count(200, 300), 200_000
    writers: list[asyncio.StreamWriter] = []
    with victim({**_BOUNDS, "first_seconds": 600.0}, timeout_keep_alive=600) as server:
        server.start()
        for number in range(requests):
            writers.append((await server.begin(("GET", "POST")[number % 2], {"Slow": "60"}, b"x" * size))[1])
        for _ in range(20):
            await server.request("GET", {})
        while server.now > PROCESS // 16 + 16 * 1024 * 1024:
            await server.request("GET", {})
        assert server.peak <= requests * size + PROCESS // 16 + 16 * 1024 * 1024
    for writer in writers:
        writer.transport.abort()


async def test_requests_without_an_answer_and_ids_that_are_none_have_a_limit(server: Victim) -> None:
    async with attacked(server):
        id = await server.initialize()
        reader, writer = await server.connect()
        for wire in (b"%d", b'{"x":%d}', b"[%d]"):
            for number in range(count(100, 100_000)):
                body = b'{"jsonrpc":"2.0","id":' + wire % number + b',"method":"_hold","params":{}}'
                writer.write(
                    b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Acp-Connection-Id: %b\r\nContent-Length: %d\r\n\r\n%b" % (id.encode(), len(body), body)
                )
                try:
                    await reader.readuntil(b"\r\n\r\n")
                except (asyncio.IncompleteReadError, ConnectionError):
                    break  # the connection holds too much
        writer.close()


async def test_a_websocket_that_never_initializes_loses_its_place() -> None:
    bounds = {**_BOUNDS, "first_seconds": 0.3, "connections": 2}
    with victim(bounds) as server:
        silent = [await server.websocket(initialize=False) for _ in range(2)]
        refused = await server.websocket(initialize=False)
        assert b" 503 " in refused.head
        assert [await socket.until_closed() for socket in silent] == [1008] * 2
        await refused.close()
        await (await server.websocket()).close()
