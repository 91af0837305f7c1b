"""Hostile WebSocket servers can't exhaust a client's memory or time, nor write to its terminal or tracebacks."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable
from traceback import format_exception

import pytest

from acp_bindings import v1
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed
from tests.kit.remote.client.raw_websocket import CLOSE, COMPRESSED, END, PING, TEXT, RawWebSocket, frame, raw_websocket
from tests.support.event_loop import count_iterations
from tests.support.runtime.peer import PlainClient

EVIL = "\x1b]0;owned\x07\x9b2J\x7f\u202e"
FITS = b"x" * 1000
LAST = frame(TEXT | END, b"last")


@pytest.fixture(autouse=True)
def _closing_takes_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.websocket._CLOSING", 0.1)  # most servers here never answer it


def sending(data: bytes, headers: str = "") -> Callable[[RawWebSocket], Awaitable[None]]:
    """Return a server that accepts, sends bytes, and waits for the client to end."""

    async def serve(websocket: RawWebSocket) -> None:
        await websocket.accept(headers)
        await websocket.write(data)
        while await websocket.reader.read(65_536):
            pass

    return serve


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(frame(TEXT | END, b"x" * 1001), "1009", id="a message"),
        pytest.param(frame(TEXT | END, "é".encode() * 501), "1009", id="a message of fewer characters"),
        pytest.param(frame(TEXT | END, b'"\xff"'), "1007", id="a text that isn't UTF-8"),
        pytest.param(b"\x81\x7f" + (2**62).to_bytes(8, "big"), "1009", id="the size of a message"),
        pytest.param(frame(TEXT, b"x" * 600) + frame(0, b"x" * 600), "1009", id="two fragments"),
        pytest.param(frame(TEXT) + frame(0) * 5000, "1009", id="empty fragments"),
        pytest.param(frame(TEXT | END | COMPRESSED, zlib.compress(bytes(100_000))), "1002", id="compressed"),
        pytest.param(frame(3 | END), "1002", id="an unknown opcode"),
        pytest.param(b"\x81\x81aaaax", "1002", id="masked"),
        pytest.param(frame(PING | END, b"x" * 126), "1002", id="a long ping"),
        pytest.param(frame(PING), "1002", id="a ping in fragments"),
        pytest.param(frame(CLOSE | END, b"\x00\x01"), "1002", id="an invalid code"),
        pytest.param(frame(CLOSE | END, b"\x03\xf3\xff"), "1007", id="a reason that isn't UTF-8"),
    ],
)
async def test_what_is_not_allowed_ends_the_connection(data: bytes, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The server doesn't close. The next ping notices that the connection is of no use any more.
    monkeypatch.setattr("acp_kit.remote.client.websocket._PING", 0.01)
    async with raw_websocket(sending(frame(TEXT | END, FITS) + data)) as url:
        transport = await open_transport(url, max_message_bytes=1000)
        assert await transport.receive() == FITS + b"\n"
        with pytest.raises(OSError, match=f"sent {code}"):
            await transport.receive()
        await transport.close()


async def test_compression_that_was_not_offered_is_refused() -> None:
    async with raw_websocket(sending(b"", "Sec-WebSocket-Extensions: permessage-deflate\r\n")) as url:
        with pytest.raises(ConnectionClosed, match="no extensions supported"):
            await open_transport(url)


@pytest.mark.parametrize("piece", [frame(PING | END), frame(2 | END), frame(0xA | END)], ids=["ping", "binary", "pong"])
async def test_many_small_frames_leave_others_their_turn(piece: bytes) -> None:
    number = 50_000
    async with raw_websocket(sending(piece * number + LAST)) as url:
        transport = await open_transport(url)
        with count_iterations() as iterations:
            assert await transport.receive() == b"last\n"
        assert iterations.count >= number * len(piece) // 8192
        await transport.close()


async def test_few_messages_wait_until_they_are_received() -> None:
    async with raw_websocket(sending(LAST * 8)) as url:
        transport = await open_transport(url)
        while vars(transport)["_socket"].transport.is_reading():
            await asyncio.sleep(0)
        assert [await transport.receive() for _ in range(8)] == [b"last\n"] * 8
        await transport.close()


async def test_a_server_that_does_not_read_the_answers_to_its_pings_is_left() -> None:
    async def flood(websocket: RawWebSocket) -> None:
        await websocket.accept()
        websocket.writer.transport.pause_reading()
        while True:
            await websocket.write(frame(PING | END, b"x" * 125) * 1000)

    async with raw_websocket(flood) as url:
        transport = await open_transport(url)
        with pytest.raises(OSError, match="sends pings, but doesn't read the pongs"):
            await transport.receive()
        await transport.close()


async def test_pings_are_answered_while_a_large_message_waits_to_be_read() -> None:
    async def read_late(websocket: RawWebSocket) -> None:
        await websocket.accept()
        await websocket.write(frame(PING | END, b"now") * 100 + LAST)
        assert len(await websocket.reader.readexactly(10_000_000)) == 10_000_000
        await websocket.write(LAST)
        while await websocket.reader.read(65_536):
            pass

    async with raw_websocket(read_late) as url:
        transport = await open_transport(url)
        writing = asyncio.create_task(transport.send(b"x" * 10_000_000 + b"\n"))
        assert [await transport.receive(), await transport.receive()] == [b"last\n", b"last\n"]
        await writing
        await transport.close()


async def test_a_silent_connection_is_kept_up_with_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.websocket._PING", 0.01)

    async def answer_pings(websocket: RawWebSocket) -> None:
        await websocket.accept()
        for _ in range(5):
            opcode, content = await websocket.read_frame()
            assert opcode == PING
            await websocket.write(frame(0xA | END, content))
        await websocket.write(LAST)
        while await websocket.reader.read(65_536):
            pass

    async with raw_websocket(answer_pings) as url:
        transport = await open_transport(url)
        assert await transport.receive() == b"last\n"
        await transport.close()


async def test_a_server_that_answers_no_ping_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PING", "_PONG"):
        monkeypatch.setattr(f"acp_kit.remote.client.websocket.{name}", 0.01)
    async with raw_websocket(sending(b"")) as url:
        transport = await open_transport(url)
        with pytest.raises(OSError, match="ping timeout"):
            await transport.receive()
        await transport.close()


@pytest.mark.parametrize("data", [b"", frame(TEXT | END, b"x" * 1000) * 1000], ids=["silent", "sends"])
async def test_a_server_that_never_answers_the_close_does_not_stop_it(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_kit.remote.client.websocket._CLOSING", 0.01)
    async with raw_websocket(sending(data)) as url:
        transport = await open_transport(url)
        await transport.close()
        with pytest.raises(OSError, match="has closed"):
            await transport.send(b"{}\n")


async def test_a_server_that_does_not_read_does_not_stop_the_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.websocket._CLOSING", 0.01)
    finished = asyncio.Event()

    async def never_read(websocket: RawWebSocket) -> None:
        await websocket.accept()
        websocket.writer.transport.pause_reading()
        await finished.wait()

    async with raw_websocket(never_read) as url:
        transport = await open_transport(url)
        writing = asyncio.create_task(transport.send(b"x" * 20_000_000 + b"\n"))
        with count_iterations() as iterations:
            while iterations.count < 100:
                await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait([writing])
        await transport.close()
        finished.set()


@pytest.mark.parametrize(
    "answer",
    [
        f"HTTP/1.1 403 No\r\nContent-Length: {len(EVIL.encode())}\r\n\r\n{EVIL}",
        f"HTTP/1.1 403 {EVIL}\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 403 \x9b2J\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 101 {EVIL}\r\n\r\n",
        "HTTP/1.1 101 Yes\r\nUpgrade: \x9b2J\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \x9b2J\r\n\r\n",
        f"{EVIL}\r\n\r\n",
        "HTTP/1.1 \u0664\u0660\u0663 No\r\n\r\n",
        "HTTP/1.1 200 OK\r\n" + "a: b\r\n" * 1000,
        "HTTP/1.1 200 OK\r\n" + "a" * 100_000,
        "HTTP/1.1 403 No\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 100 Go\r\n\r\n" * 1000,
    ],
    ids=lambda text: ascii(text[:40]),
)
async def test_a_refused_handshake_is_printable(answer: str) -> None:
    async def refuse(websocket: RawWebSocket) -> None:
        await websocket.write(answer.encode())

    async with raw_websocket(refuse) as url:
        with pytest.raises(ConnectionClosed, match="agent") as raised:
            await open_transport(url)
        assert all(line.isprintable() for line in "".join(format_exception(raised.value)).splitlines())


async def test_why_a_websocket_was_closed_is_printable() -> None:
    async with raw_websocket(sending(frame(CLOSE | END, b"\x03\xf3" + EVIL.encode()))) as url:
        with pytest.raises(ConnectionClosed, match="code 1011: ") as raised:
            async with v1.connect(PlainClient, await open_transport(url)) as agent:
                await agent.initialize(protocol_version=1)
        assert "owned" in str(raised.value)
        assert all(line.isprintable() for line in "".join(format_exception(raised.value)).splitlines())


async def test_headers_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with raw_websocket(sending(LAST, "Set-Cookie: secret=secret\r\n")) as url:
            transport = await open_transport(url, headers={"Authorization": "secret"})
            assert await transport.receive() == b"last\n"
            await transport.close()
    assert "secret" not in caplog.text
