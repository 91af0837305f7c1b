"""What the statuses of an agent mean: the end of the connection, of a stream, or of one request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_kit.remote import open_transport
from tests.kit.remote.client.http_agent import INITIALIZE, Client, call, connected, http_agent, result
from tests.support.runtime.peer import line

PROMPT = call(2, "session/prompt", sessionId="s", prompt=[])
NEXT = call(3, "_next")


@pytest.mark.parametrize("status", [400, 406, 409, 413, 415, 426, 429, 499, 500, 501, 502, 503, 504])
async def test_a_refused_request_fails_at_once(status: int) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer("POST session/prompt", status, "because\nof this")
        await client.send(PROMPT)
        answer = await client.receive()
        assert answer["id"] == 2
        assert answer["error"]["code"] == -32603
        assert f"HTTP {status} Status: because of this" in answer["error"]["message"]
        assert answer["error"]["data"] == {"status": status}
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("POST session/cancel", {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}),
        ("POST answer", result(7)),
    ],
    ids=["notification", "answer"],
)
async def test_a_refused_notification_or_answer_is_logged(
    place: str, message: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer(place, 503, "too busy")
        await client.send(line(message))
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert "is lost: The agent answered POST " in record.message
        assert record.message.endswith("HTTP 503 Status: too busy")
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)


@pytest.mark.parametrize(
    ("place", "status"),
    [*(("POST _next", status) for status in (401, 403, 404, 410)), *(("GET s", status) for status in (401, 403, 410))],
)
async def test_the_connection_ends(place: str, status: int) -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer(place, status, "go away")
        with pytest.raises(OSError, match=f"HTTP {status} Status: go away"):
            await client.send(NEXT if place.startswith("POST") else PROMPT)
            await client.send(NEXT)


async def test_a_message_to_an_unknown_session_is_sent_again_without_its_id() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer("GET s", 404)
        agent.answer("POST session/load", 404, "unknown session")
        await client.send(call(2, "session/load", sessionId="s", cwd="/", mcpServers=[]))
        first, second = [request for request in agent.requests if request.place == "POST session/load"]
        assert first.headers["acp-session-id"] == "s"
        assert "acp-session-id" not in second.headers
        assert first.message == second.message
        await stream.say(result(2))
        assert await client.receive() == result(2)


async def test_a_request_to_an_unknown_session_fails_and_the_connection_goes_on() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer("POST session/prompt", 404, "unknown session")
        agent.answer("POST session/prompt", 400, "no session")
        await client.send(PROMPT)
        assert "HTTP 404 Status: unknown session" in (await client.receive())["error"]["message"]
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)


@pytest.mark.parametrize("status", [400, 401, 404, 405, 409, 500])
async def test_without_its_stream_a_connection_ends(status: int) -> None:
    async with http_agent() as agent:
        agent.answer("GET", status, "no stream")
        client = Client(await open_transport(agent.url))
        await client.send(line(INITIALIZE))
        assert (await client.receive())["result"] == {"protocolVersion": 1}
        with pytest.raises(OSError, match=f"GET http://127.*HTTP {status} Status: no stream"):
            await client.receive()
        with pytest.raises(OSError, match=f"HTTP {status}"):
            await client.send(NEXT)
        await client.transport.close()


@pytest.mark.parametrize("status", [400, 405, 409, 500])
async def test_without_its_stream_a_session_fails_and_the_connection_goes_on(status: int) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer("GET s", status, "no stream")
        await client.send(PROMPT)
        answer = await client.receive()
        assert answer["id"] == 2
        assert f"HTTP {status} Status: no stream" in answer["error"]["message"]
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)
        assert "POST session/prompt" not in agent.places()
        await client.send(PROMPT)
        await (await agent.stream("s")).say(result(2))
        assert await client.receive() == result(2)


async def test_a_session_whose_stream_is_not_there_any_more_fails() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        await client.send(PROMPT)
        session = await agent.stream("s")
        agent.answer("GET s", 404, "the session has ended")
        await session.say({"jsonrpc": "2.0", "method": "_note", "params": {}})
        await session.end()
        assert (await client.receive())["method"] == "_note"
        answer = await client.receive()
        assert answer["id"] == 2
        assert "the session has ended" in answer["error"]["message"]


@pytest.mark.parametrize("id", [None, "", "\xff", "a\x1bb", "x" * 1025], ids=["none", "empty", "é", "escape", "long"])
async def test_an_answer_to_initialize_without_a_usable_connection_id_is_refused(id: str | None) -> None:
    async with http_agent() as agent:
        headers = {} if id is None else {"Acp_Connection_Id": id}
        agent.answer("POST initialize", 200, json.dumps(result(0, protocolVersion=1)), **headers)
        client = Client(await open_transport(agent.url))
        with pytest.raises(OSError, match="has no usable Acp-Connection-Id"):
            await client.send(line(INITIALIZE))
        await client.transport.close()
        assert agent.places() == ["POST initialize"]


async def test_an_error_as_answer_to_initialize_is_received() -> None:
    async with http_agent() as agent:
        error = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32022, "message": "only version 1"}}
        agent.answer("POST initialize", 200, json.dumps(error, indent=1))
        client = Client(await open_transport(agent.url))
        await client.send(line(INITIALIZE))
        assert await client.receive() == error
        await client.transport.close()
        assert agent.places() == ["POST initialize"]


async def test_an_answer_may_come_as_the_body_of_a_later_post() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        agent.answer("POST _next", 200, json.dumps(result(3)), Content_Type="application/json; charset=utf-8")
        await client.send(NEXT)
        assert await client.receive() == result(3)
        agent.answer("POST _next", 202, "Accepted", Content_Type="text/plain")
        await client.send(NEXT)
        agent.answer("POST _next", 200, json.dumps(result(5)), Content_Type="application/json")
        await client.send(NEXT)
        assert await client.receive() == result(5)


@pytest.mark.parametrize("session", ["a\r\nEvil: 1", "é", "\x00"])
async def test_the_id_of_a_session_cannot_add_headers(session: str) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(call(2, "session/prompt", sessionId=session))
        assert "id of the session" in (await client.receive())["error"]["message"]
        await client.send(NEXT)
        await stream.say(result(3))
        assert await client.receive() == result(3)
        assert agent.places()[2:] == ["POST _next"]
