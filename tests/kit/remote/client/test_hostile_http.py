"""Hostile HTTP servers can't exhaust a client's memory or time, nor write to its terminal or tracebacks."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from http.cookiejar import CookieJar
from typing import Any

import pytest

from tests.kit.remote.client.http_agent import NEVER, HttpAgent, call, connected, http_agent, result
from tests.support.event_loop import count_iterations
from tests.support.runtime.peer import line

NEXT = call(3, "_next")
PROMPT = call(2, "session/prompt", sessionId="s", prompt=[])
BOMB = gzip.compress(gzip.compress(bytes(5_000_000)))
EVIL = "\x1b]0;owned\x07\x9b2J\x7f\u202e"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip", "br", "deflate", "x-unknown", "identity, gzip"])
@pytest.mark.parametrize(
    ("place", "status", "kind"),
    [("POST _next", 200, "application/json"), ("POST _next", 503, "text/plain"), ("GET s", 200, "text/event-stream")],
)
async def test_an_encoding_that_was_not_asked_for_is_refused(place: str, status: int, kind: str, encoding: str) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer(place, status, BOMB, Content_Type=kind, Content_Encoding=encoding)
        await client.send(PROMPT if place == "GET s" else NEXT)
        message = (await client.receive())["error"]["message"]
        assert message.endswith(f"its Content-Encoding is {encoding}, which was not asked for")
        assert agent.requests[-1].headers["accept-encoding"] == "identity"
        await client.send(call(4, "_still"))
        await stream.say(result(4))
        assert await client.receive() == result(4)


@pytest.mark.parametrize("charset", ["zlib", "bz2", "hex", "undefined", "punycode", "utf-16"])
async def test_the_charset_of_an_error_is_ignored(charset: str) -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("POST _next", 503, b"why" + zlib.compress(b"x"), Content_Type=f"text/plain; charset={charset}")
        await client.send(NEXT)
        assert ": why" in (await client.receive())["error"]["message"]


@pytest.mark.parametrize(
    ("status", "body", "reason", "kind"),
    [(503, "", EVIL, ""), (503, EVIL, "", ""), (200, "", "", EVIL)],
    ids=["reason", "body", "content type"],
)
async def test_texts_of_the_server_are_printable(
    status: int, body: str, reason: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    encoded = kind.encode().decode("latin-1")
    async with http_agent() as agent, connected(agent) as (client, _):
        for place in ("GET s", "POST session/cancel"):
            agent.answer(place, status, body, reason.encode().decode("latin-1") or "Status", Content_Type=encoded)
        await client.send(PROMPT)
        message = (await client.receive())["error"]["message"]
        assert "owned" in message
        assert message.isprintable()
        await client.send(line({"jsonrpc": "2.0", "method": "session/cancel", "params": {}}))
        assert all(record.getMessage().isprintable() for record in caplog.records)


@pytest.mark.parametrize(
    "piece", [b":", b"\n", b"data:\n", b"data: 1\n\n"], ids=["comment", "lines", "event", "events"]
)
async def test_a_stream_in_many_small_chunks_leaves_others_their_turn(piece: bytes) -> None:
    chunk = b"%x\r\n%b\r\n" % (len(piece), piece)
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("GET s", NEVER)
        sending = asyncio.create_task(client.send(PROMPT))
        (await agent.request("GET s")).writer.write(EVENTS + chunk * 2000 + b"f\r\n\n\ndata: 12345\n\n\r\n")
        with count_iterations() as iterations:
            while b"12345" not in await client.transport.receive():
                pass
        assert iterations.count >= 2000
        await sending


@pytest.mark.parametrize("piece", [b"\r", b"data: {}\n\n"], ids=["lines", "events"])
async def test_a_large_chunk_of_small_pieces_leaves_others_their_turn(piece: bytes) -> None:
    body = piece * (60_000 // len(piece)) + b"\n\ndata: 12345\n\n"
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("GET s", NEVER)
        sending = asyncio.create_task(client.send(PROMPT))
        (await agent.request("GET s")).writer.write(EVENTS + b"%x\r\n%b\r\n" % (len(body), body))
        with count_iterations() as iterations:
            while b"12345" not in await client.transport.receive():
                pass
        assert iterations.count >= len(body) // 4096
        await sending


async def test_a_session_id_that_is_too_long_for_a_header_fails_only_its_requests() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(call(2, "session/prompt", sessionId="s" * 1025, prompt=[]))
        assert "has more than 1024 characters" in (await client.receive())["error"]["message"]
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)


async def test_a_body_in_many_small_chunks_leaves_others_their_turn() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("POST _next", NEVER)
        sending = asyncio.create_task(client.send(NEXT))
        writer = (await agent.request("POST _next")).writer
        with count_iterations() as iterations:
            writer.write(b"HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 2000 + b"0\r\n\r\n")
            await sending
        assert iterations.count >= 2000


async def test_a_body_that_never_ends_does_not_hold_up_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.http._SENDING", 0.05)

    async def drip(agent: HttpAgent) -> None:
        writer = (await agent.request("POST _next")).writer
        writer.write(b"HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1\r\nx\r\n")
            await asyncio.sleep(0)

    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("POST _next", NEVER)
        dripping = asyncio.create_task(drip(agent))
        with pytest.raises(OSError, match="/acp failed: TimeoutError"):
            await client.send(NEXT)
        await dripping


async def test_a_stream_that_is_always_closed_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.streams._PAUSES", (0.0, 0.01, 0.02))

    async def close_all(agent: HttpAgent) -> None:
        while True:
            session = await agent.stream("s")
            await session.write(b": for once\n\n")
            await session.end()

    async with http_agent() as agent, connected(agent) as (client, stream):
        closing = asyncio.create_task(close_all(agent))
        await client.send(PROMPT)
        answer = await client.receive()
        assert answer["id"] == 2
        assert answer["error"]["message"] == "The agent closed the stream of the session 4 times after a short time."
        closing.cancel()
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)
        assert agent.places().count("GET s") == 4


async def test_a_stream_that_lasted_longer_is_opened_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.streams._EARLY", -1.0)
    monkeypatch.setattr("acp_kit.remote.client.streams._PAUSES", (0.0, 0.0))
    async with http_agent() as agent, connected(agent) as (client, _):
        await client.send(PROMPT)
        for _ in range(5):
            session = await agent.stream("s")
            await session.write(b":\n\n")
            await session.end()
        await (await agent.stream("s")).say(result(2))
        assert await client.receive() == result(2)


async def test_only_the_newest_of_many_cookies_are_kept() -> None:
    jar = CookieJar()
    async with http_agent() as agent, connected(agent, cookies=jar) as (client, _):
        for start in range(0, 1050, 50):
            cookies = "\r\nSet-Cookie: ".join(f"c{number}=1; Path=/other" for number in range(start, start + 50))
            agent.answer("POST _next", 202, Set_Cookie=cookies)
            await client.send(NEXT)
    assert [cookie.name for cookie in jar] == [f"c{number}" for number in range(50, 1050)]


@pytest.mark.parametrize(
    ("id", "session"), [("x" * 1025, "s"), (1, "s" * 1025), (1, "")], ids=["id", "session", "nothing too long"]
)
async def test_long_ids_of_requests_end_the_connection(id: Any, session: str) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        ask = {"jsonrpc": "2.0", "id": id, "method": "_ask", "params": {"sessionId": session}}
        await stream.say(ask)
        assert await client.receive() == ask
        if id == 1 and not session:
            await stream.say(result(3))
            assert await client.receive() == result(3)
        else:
            with pytest.raises(OSError, match="The agent has more than"):
                await client.receive()


async def test_unanswered_requests_end_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.http._MAX_AGENT_REQUESTS", 10)
    async with http_agent() as agent, connected(agent) as (client, stream):
        for number in range(11):
            ask = {"jsonrpc": "2.0", "id": number, "method": "_ask", "params": {"sessionId": "s"}}
            await stream.say(ask)
            assert await client.receive() == ask
        with pytest.raises(OSError, match="The agent has more than 10 requests"):
            await client.receive()


async def test_json_that_takes_too_much_memory_ends_the_connection() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await stream.write(b"data: " + b"[[]]," * 1_000_000 + b"\n\n")
        with pytest.raises(OSError, match="takes too much memory"):
            await client.receive()


async def test_a_stream_of_which_nothing_comes_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("acp_kit.remote.client.streams._PATIENCE", 0.01)
    async with http_agent() as agent, connected(agent):
        while not caplog.records:
            await asyncio.sleep(0)
        assert "A proxy may hold back" in caplog.records[0].getMessage()
