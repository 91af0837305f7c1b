"""Which streams a client opens, when, and what their end means."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.kit.remote.client.http_agent import NEVER, call, connected, http_agent, result
from tests.support.runtime.peer import line

NEW = call(1, "session/new", cwd="/", mcpServers=[])
PROMPT = call(2, "session/prompt", sessionId="s", prompt=[])
LOAD = call(3, "session/load", sessionId="s", cwd="/", mcpServers=[])
UPDATE = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s"}}
ASK = {"jsonrpc": "2.0", "id": "ask", "method": "session/request_permission", "params": {"sessionId": "s"}}


async def test_each_request_has_its_place_and_its_headers() -> None:
    async with http_agent() as agent:
        async with connected(agent, headers={"Authorization": "Bearer secret"}) as (client, stream):
            await client.send(NEW)
            await stream.say(result(1, sessionId="s"))
            assert await client.receive() == result(1, sessionId="s")
            session = await agent.stream("s")
            await client.send(PROMPT)
            await session.say(ASK)
            assert await client.receive() == ASK
            await client.send(line(result("ask")))
            await session.say(result(2))
            assert await client.receive() == result(2)
        first, *others = agent.requests
        assert agent.places() == [
            *("POST initialize", "GET", "POST session/new", "GET s", "POST session/prompt", "POST answer", "DELETE")
        ]
        assert not {"acp-connection-id", "acp-session-id", "acp-protocol-version"} & first.headers.keys()
        for other in others:
            assert other.headers["acp-connection-id"] == "connection-1"
            assert other.headers["acp-protocol-version"] == "1"
            assert other.headers["authorization"] == "Bearer secret"
        sessions = [other.headers.get("acp-session-id") for other in others]
        assert sessions == [None, None, "s", "s", "s", None]
        assert [request.message for request in agent.requests if request.place == "POST session/prompt"] == [
            json.loads(PROMPT)
        ]
        for request in agent.requests:
            expected = "text/event-stream" if request.place.startswith("GET") else "application/json"
            assert expected in request.headers["accept"]
            if request.place.startswith("POST"):
                assert request.headers["content-type"] == "application/json"


async def test_messages_are_sent_one_after_the_other() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        await client.send(b"".join(call(number, f"_{number}") for number in range(1, 20)))
        assert agent.places()[2:] == [f"POST _{number}" for number in range(1, 20)]


async def test_the_stream_of_a_session_is_open_before_a_request_that_names_it() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(LOAD)
        assert agent.places()[2:] == ["GET s", "POST session/load"]
        await (await agent.stream("s")).say(UPDATE)
        assert await client.receive() == UPDATE
        await stream.say(result(3))
        assert await client.receive() == result(3)


async def test_a_fork_opens_the_stream_of_the_new_session() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(call(1, "session/fork", sessionId="s"))
        await stream.say(result(1, sessionId="fork"))
        await agent.stream("fork")


async def test_a_session_unknown_to_the_agent_gets_its_stream_after_the_answer() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        agent.answer("GET s", 404, "no such session")
        await client.send(LOAD)
        await stream.say(UPDATE)
        await stream.say(result(3))
        assert await client.receive() == UPDATE
        assert await client.receive() == result(3)
        await (await agent.stream("s")).say(UPDATE)
        assert await client.receive() == UPDATE
        assert agent.places()[2:] == ["GET s", "POST session/load", "GET s"]


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_the_stream_of_a_closed_session_is_closed(method: str) -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(PROMPT)
        session = await agent.stream("s")
        await session.say(result(2))
        assert await client.receive() == result(2)
        await client.send(call(4, method, sessionId="s"))
        await stream.say(result(4))
        assert await client.receive() == result(4)
        await session.writer.wait_closed()
        assert agent.places()[2:] == ["GET s", "POST session/prompt", f"POST {method}"]


async def test_requests_of_a_session_fail_when_its_stream_ends_and_brought_nothing() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(PROMPT)
        await (await agent.stream("s")).end()
        answer = await client.receive()
        assert answer["id"] == 2
        assert answer["error"]["message"] == "The agent closed the stream of the session."
        await stream.say(UPDATE)
        assert await client.receive() == UPDATE
        await client.send(PROMPT)
        await (await agent.stream("s")).say(result(2))
        assert await client.receive() == result(2)


async def test_a_stream_that_breaks_in_mid_event_loses_only_that_event() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        await client.send(PROMPT)
        session = await agent.stream("s")
        await session.write(b"data: " + line(UPDATE) + b"\ndata: {")
        assert await client.receive() == UPDATE
        await session.end()
        await (await agent.stream("s")).say(result(2))
        assert await client.receive() == result(2)


async def test_the_connection_ends_with_its_stream_after_the_last_events_of_its_sessions() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(PROMPT)
        session = await agent.stream("s")
        await session.say(UPDATE)
        assert await client.receive() == UPDATE
        await stream.end()
        await session.say(result(2))
        await session.end()
        assert await client.receive() == result(2)
        assert await client.receive() is None
        with pytest.raises(OSError, match="The agent has ended the connection"):
            await client.send(PROMPT)


async def test_an_event_that_is_too_large_ends_the_connection() -> None:
    async with http_agent() as agent:
        async with connected(agent, max_message_bytes=1000) as (client, _):
            await client.send(PROMPT)
            await (await agent.stream("s")).say("x" * 1000)
            with pytest.raises(OSError, match="more than 1000 bytes"):
                await client.receive()
        assert agent.places()[-1] == "DELETE"


async def test_an_agent_whose_keep_alives_stop_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_kit.remote.client.streams._PATIENCE", 0.01)
    async with http_agent() as agent, connected(agent) as (client, stream):
        await client.send(PROMPT)
        session = await agent.stream("s")
        for value in (session, stream):
            await value.say(UPDATE)
            assert await client.receive() == UPDATE
        await session.write(b":\n\n")
        reopened = await agent.stream("s")
        await reopened.say(result(2))
        assert await client.receive() == result(2)
        await stream.write(b":\n\n")
        with pytest.raises(OSError, match=r"nothing for 0\.01 seconds, not even keep-alives"):
            await client.receive()


async def test_who_does_not_receive_lets_the_agent_wait() -> None:
    async with http_agent() as agent, connected(agent) as (client, stream):
        event = b"data: " + line("x" * 100_000) + b"\n"
        writing = asyncio.create_task(stream.write(event * 300))
        while stream.writer.transport.get_write_buffer_size() == 0:
            await asyncio.sleep(0)
        for _ in range(20):
            await client.send(call(1, "_still"))
        assert not writing.done(), "30 MB would be in memory"
        while not writing.done():
            await client.receive()


async def test_an_agent_that_does_not_answer_does_not_stop_the_close() -> None:
    async with http_agent() as agent:
        agent.answer("POST session/prompt", NEVER)
        agent.answer("DELETE", NEVER)
        async with connected(agent) as (client, _):
            sending = asyncio.create_task(client.send(PROMPT))
            await agent.request("POST session/prompt")
            sending.cancel()
        assert agent.places()[-1] == "DELETE"


async def test_more_streams_than_a_pool_has_connections() -> None:
    async with http_agent() as agent, connected(agent) as (client, _):
        for number in range(110):
            await client.send(call(number + 10, "session/prompt", sessionId=f"s{number}", prompt=[]))
        for number in range(110):
            await (await agent.stream(f"s{number}")).say(result(number + 10))
        assert sorted([(await client.receive())["id"] for _ in range(110)]) == list(range(10, 120))
