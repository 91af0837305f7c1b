"""What `uvicorn_protocols` changes in uvicorn and websockets, and that it still fits them."""

from __future__ import annotations

import asyncio
import gc
import tomllib
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import pytest
from packaging.requirements import Requirement
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.server import ServerProtocol

from acp_kit.remote import Bounds, agent_app
from acp_kit.remote.server.uvicorn_protocols import HTTP, WebSockets
from tests.support.kit.hostile_server import frame
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import JSON, read_response, serving
from tests.support.paths import ROOT
from tests.support.turns_of_loop import counting_turns

_HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
_OWN = {"abort", "abort_soon", "forget", "limit", "write"}


@pytest.mark.parametrize("name", ["uvicorn", "websockets"])
def test_the_installed_versions_are_those_that_the_extra_allows(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (allowed,) = (text for text in project["optional-dependencies"]["remote"] if text.startswith(name))
    assert version(name) in Requirement(allowed).specifier, "change the range, and see these tests pass"


@pytest.mark.parametrize(
    ("ours", "theirs"), [(HTTP, H11Protocol), (WebSockets, WebSocketsSansIOProtocol)], ids=["HTTP", "WebSockets"]
)
def test_uvicorn_has_what_is_overridden(ours: type, theirs: type) -> None:
    methods = {name for base in ours.__mro__[:2] for name, value in vars(base).items() if callable(value)}
    overridden = {name for name in methods if not name.startswith("_")} - _OWN
    assert len(overridden) >= 4
    assert not [name for name in overridden if not hasattr(theirs, name)]


def test_websockets_has_what_is_used() -> None:
    protocol = ServerProtocol(max_size=5)
    assert protocol.max_message_size == 5
    assert protocol.reader.buffer == b""


@pytest.mark.parametrize("headers", [0, 200])  # which only h11 can read
async def test_a_client_that_does_not_wait_for_the_handshake_is_refused(headers: int) -> None:
    asked = asyncio.Event()

    async def authenticate(_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with serving(agent_app(echo, authenticate=authenticate)) as site:
        reader, writer = await site.begin("GET", {**_HANDSHAKE, **{f"x{number}": "" for number in range(headers)}})
        if not headers:
            await asked.wait()
        writer.write(frame(b"", length=9))
        assert await reader.read() == b""
        writer.close()


async def test_many_small_frames_leave_others_their_turn() -> None:
    async with serving(agent_app(echo)) as site:
        reader, writer = await site.begin("GET", _HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        with counting_turns() as turns:
            writer.write(b"\x8a\x80\0\0\0\0" * 50_000 + b"\x88\x80\0\0\0\0")
            await reader.read()
        assert turns.count >= 300_000 // 8192
        writer.close()


async def test_a_client_that_answers_no_pings_loses_its_websocket() -> None:
    options = {"ws_ping_interval": 0.05, "ws_ping_timeout": 0.05}
    async with serving(agent_app(echo), options=options) as site:
        reader, writer = await site.begin("GET", _HANDSHAKE)
        assert (await reader.read()).endswith(b"keepalive ping timeout")
        writer.close()


@pytest.mark.parametrize(
    ("request_line", "body"),
    [("GET /other", b"GET /an"), ("POST /other", b"{"), ("POST /acp", b"{")],
    ids=["half a head", "half a body", "half a body that is refused"],
)
async def test_a_client_that_never_ends_a_request_is_left(
    request_line: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_kit.remote.server.uvicorn_protocols._STALLED_SECONDS", 0.05)
    async with serving(agent_app(echo)) as site:
        method, path = request_line.split()
        length = {"Content-Length": "1000000"} if method == "POST" else {}
        reader, writer = await site.begin(method, length, path=path)
        await reader.readuntil(b"\r\n\r\n")
        with suppress(ConnectionError):
            writer.write(body)  # so that it isn't idle
            await reader.read()
        writer.close()


async def test_a_client_that_reads_no_response_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.server.uvicorn_protocols._STALLED_SECONDS", 0.05)
    requests = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
    app = agent_app(echo)
    app.add_route("/long", lambda _: Response(b"x" * 100_000))  # so that few of them fill the buffers of the system
    async with serving(app) as site:
        stream = await site.stream(id := await site.initialize(), Connection="keep-alive")
        await site.delete(id)
        assert await stream.next() is None
        (writer := stream.writer).transport.pause_reading()
        with pytest.raises(ConnectionError):
            while True:
                writer.write(requests)
                await writer.drain()


async def test_a_client_may_not_send_anything_behind_its_last_request() -> None:
    async with serving(agent_app(echo)) as site:
        stream = await site.stream(await site.initialize(), Connection="close")
        stream.writer.write(b"x" * 1_000_000)
        with suppress(ConnectionError):
            while await stream.line():
                pass
        stream.writer.close()


async def test_a_body_that_nobody_wants_is_dropped_with_the_response() -> None:
    async with serving(agent_app(echo)) as site:
        reader, writer = await site.begin("GET", {}, b"body")
        assert (await read_response(reader)).status == 400
        assert not [cycle for cycle in gc.get_objects() if isinstance(cycle, RequestResponseCycle) and cycle.body]
        writer.close()


@pytest.mark.parametrize("kind", ["first", "websocket"])
async def test_authentication_has_a_time_limit_and_ends_with_the_client(kind: str) -> None:
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
    async with serving(agent_app(echo, authenticate=authenticate)) as site:
        _, writer = await site.begin(*request)
        writer.close()
        assert await ended.get() == "cancelled"
        started = asyncio.Queue[str]()
        reader, writer = await site.begin(*request)
        await started.get()
    assert b" 50" in await reader.read()  # the server was stopped
    assert await ended.get() == "cancelled"
    writer.close()
