"""What `run` and `serve` add to uvicorn."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from acp_bindings import v1
from acp_kit.remote import Bounds, agent_app, run
from acp_kit.remote.server.running import listen, serve
from tests.support.kit.remote_agents import EchoAgent, echo, raw_agents
from tests.support.kit.remote_servers import INITIALIZE, JSON, Site, read_response, serving

_HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


async def test_clients_get_pings() -> None:
    async with serving(agent_app(echo), options={"ws_ping_interval": 0.05}) as site:
        reader, writer = await site.begin("GET", _HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        assert (await reader.readexactly(1)) == b"\x89"
        writer.close()


async def test_the_incomplete_head_of_a_request_is_limited() -> None:
    async with serving(agent_app(echo)) as site:
        reader, writer = await site.connect()
        writer.write(b"GET /acp HTTP/1.1\r\nX: " + b"x" * 16 * 1024)
        assert b" 400 " in await reader.readline()
        writer.close()


async def test_a_client_that_waits_for_continue_is_refused_without_it() -> None:
    async with serving(agent_app(echo)) as site:
        waits = {"Content-Length": "20000000", "Expect": "100-continue"}
        for headers, status in (({"Host": "attacker.example"}, 403), ({"Acp-Connection-Id": "unknown"}, 404)):
            reader, writer = await site.begin("POST", {**JSON, **waits, **headers})
            assert (await read_response(reader)).status == status
            writer.close()


@pytest.mark.parametrize("kind", ["first", "websocket"])
async def test_authentication_has_a_time_limit_and_ends_with_the_server(kind: str) -> None:
    started, ended = asyncio.Queue[str](), asyncio.Queue[str]()

    async def authenticate(_: Any) -> None:
        started.put_nowait("started")
        try:
            await asyncio.Event().wait()
        finally:
            ended.put_nowait("cancelled")

    request: Any = ("GET", _HANDSHAKE) if kind == "websocket" else ("POST", {**JSON, "Content-Length": "2"}, b"{")
    async with serving(agent_app(echo, authenticate=authenticate, bounds=Bounds(first_seconds=0.05))) as site:
        reader, writer = await site.begin(*request)
        assert (await read_response(reader)).status == 503
        assert await ended.get() == "cancelled"
        writer.close()
    started = asyncio.Queue[str]()
    async with serving(agent_app(echo, authenticate=authenticate)) as site:
        reader, writer = await site.begin(*request)
        await started.get()
    assert (await read_response(reader)).status == 503
    assert await ended.get() == "cancelled"
    writer.close()


async def test_a_shutdown_does_not_wait_for_a_body() -> None:
    async with serving(agent_app(echo)) as site:
        id = await site.initialize()
        posts = [
            await site.begin("POST", {**JSON, **headers, "Content-Length": "9", "Expect": "100-continue"})
            for headers in ({}, {"Acp-Connection-Id": id})
        ]
        for reader, _ in posts:
            assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
    assert [(await read_response(reader)).status for reader, _ in posts] == [503, 503]
    for _, writer in posts:
        writer.close()


async def test_a_thread_of_a_handler_does_not_delay_the_end_of_connections() -> None:
    started, released = asyncio.Event(), threading.Event()

    class Agent(EchoAgent):
        async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
            started.set()
            await asyncio.to_thread(released.wait)
            return v1.PromptResponse(stop_reason="end_turn")

    app = agent_app(lambda transport, _: v1.serve(Agent, transport))
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving_it = asyncio.create_task(serve(app, [listener], log_config=None))
            site = Site(listener.getsockname()[1])
            id = await site.initialize()
            session = await site.stream(id, "s")
            prompt = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}
            await site.post(id, prompt)
            await started.wait()
            serving_it.cancel()
            await asyncio.wait({serving_it})
        assert (await session.next())["result"] == {"stopReason": "cancelled"}
        assert await session.next() is None
        await session.close()
    finally:
        released.set()


async def test_a_client_that_reads_nothing_does_not_delay_the_shutdown() -> None:
    serve, agents = raw_agents()
    async with serving(agent_app(serve), errors=None) as site:  # uvicorn logs that a response has no end
        id = await site.initialize()
        agent = await agents.get()
        stuck = socket.create_connection(("127.0.0.1", site.port))
        stuck.sendall(f"GET /acp HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: {id}\r\n\r\n".encode())
        for _ in range(10):
            await agent.say({"method": "_x", "params": "x" * 1_000_000})
    stuck.close()


async def test_the_agents_of_an_application_that_contains_them_end_before_uvicorn_stops() -> None:
    agents = {path: agent_app(echo, path=path) for path in ("/one", "/two")}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await agents[scope["path"]](scope, receive, send)

    async with serving(app, options={"lifespan": "off"}) as site:
        sockets = [await connect(f"ws://127.0.0.1:{site.port}{path}") for path in agents]
    for websocket in sockets:
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 1001


async def test_the_bytes_of_all_applications_count_together() -> None:
    bounds = Bounds(process_bytes=400_000)
    serve, opened = raw_agents()
    agents = {path: agent_app(serve, path=path, bounds=bounds) for path in ("/one", "/two")}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await agents[scope["path"]](scope, receive, send)

    async with serving(app, options={"lifespan": "off"}) as site:
        ids: dict[str, str] = {}
        for path in agents:
            response = await site.request("POST", JSON, INITIALIZE, path)
            ids[path] = response.headers["acp-connection-id"]
            await (agent := await opened.get()).update("s", "x" * (250_000 if path == "/one" else 200_000))
            assert agent.error is None
        message = {"jsonrpc": "2.0", "id": 1, "method": "_x"}
        status = {
            path: (await site.request("POST", {**JSON, "Acp-Connection-Id": id}, message, path)).status
            for path, id in ids.items()
        }
        assert status == {"/one": 404, "/two": 202}


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="needs the option of Linux")
async def test_the_system_ends_connections_that_are_not_read() -> None:
    with listen("127.0.0.1", 0, 1) as listener:
        client = socket.create_connection(listener.getsockname())
        connection, _ = listener.accept()
        with connection, client, pytest.raises(TimeoutError):
            while True:
                connection.send(b"x" * 100_000)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "agents.example.org"])
def test_another_address_than_loopback_needs_authentication_or_a_word(host: str) -> None:
    with pytest.raises(ValueError, match=r"pass `authenticate`, or `anonymous=True`"):
        run(agent_app(echo), host=host)


async def test_the_debug_log_has_no_headers(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(agent_app(echo), options={"log_level": "debug"}) as site:
        headers = {"Authorization": "Bearer secret", "Cookie": "id=secret"}
        async with connect(f"ws://127.0.0.1:{site.port}/acp", additional_headers=headers, logger=logging.Logger("x")):
            pass
    assert "Listening" in caplog.text
    assert "secret" not in caplog.text
