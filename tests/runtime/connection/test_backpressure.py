"""Rule 18: reading and sending pause at the high-water marks, and never deadlock."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, RemoteAgent, SessionNotification
from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options, RemoteError
from acp_runtime.connection import Connection, run
from acp_runtime.jsonrpc.framing import MODEL_BYTES
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run, wait_until
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import (
    LINKS,
    Link,
    Peer,
    PlainAgent,
    PlainClient,
    calling,
    chunk,
    line,
    prompt,
    serving,
    text_of,
    update,
)

pytestmark = pytest.mark.every_link
FLOOD: dict[str, Any] = {"high_water_bytes": 200_000, "flood_factor": 2}


@pytest.mark.parametrize(
    "mark", [{"high_water_messages": 10}, {"high_water_bytes": 10 * (1000 + MODEL_BYTES)}], ids=str
)
async def test_rule_18_reading_pauses_beyond_the_high_water_mark_and_resumes_below_it(mark: dict[str, Any]) -> None:
    sent, received, handled = 0, 0, 0
    waiting: list[int] = []
    unhandled: list[int] = []
    done = asyncio.Event()

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            nonlocal handled
            await let_others_run(3)
            waiting.append(received - handled)
            unhandled.append(sent - handled)
            handled += 1
            if handled == 600:
                done.set()

    def count(direction: str, line: bytes, time: float) -> None:
        nonlocal received
        received += b"session/update" in line

    async with calling(LINKS["memory"], Slow, **mark, on_frame=count) as (_, peer):
        for _ in range(600):
            await peer.send(update("s", "x" * 1000))
            sent += 1
        await done.wait()
    # A batch of lines is passed on whole.
    assert max(waiting) <= 10 + 32
    # The peer had to wait: the pipe holds about 60 messages, and one chunk of as many was read from it.
    assert max(unhandled) < 250


async def test_rule_18_paused_reading_does_not_deadlock_with_handlers_that_call_the_peer(link: Link) -> None:
    class Reentrant(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            await super().session_update(notification)
            if len(self.updates) == 50:
                done.set()

    done = asyncio.Event()
    factory = RecordingFactory(Reentrant)
    async with calling(link, factory, high_water_messages=5, flood_factor=1000) as (_, peer):
        await peer.send(*(update("s", str(n)) for n in range(50)))
        for _ in range(50):
            await peer.answer(result={})
        await done.wait()
        assert [text_of(received) for received in factory.handler.updates] == [str(n) for n in range(50)]


async def test_rule_18_a_flood_while_all_handlers_await_the_peer_closes_the_connection(link: Link) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            with pytest.raises(ConnectionClosed, match="more than can be handled"):
                await self.agent.session_set_mode(session_id="s", mode_id="m")
            failed.set()

    failed = asyncio.Event()
    async with calling(link, Asking, high_water_bytes=20_000, flood_factor=3) as (_, peer):
        peer.writer.write(b"".join(line(update("s", str(n))) for n in range(100)))
        await failed.wait()


async def test_rule_18_after_a_flood_nothing_more_is_read() -> None:
    received, may_end = 0, asyncio.Event()

    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            with suppress(ConnectionClosed):
                await self.agent.ext_request("_ask")
            await may_end.wait()

    def count(direction: str, line: bytes, time: float) -> None:
        nonlocal received
        received += direction == "in"

    there, back = MemoryPipe(), MemoryPipe()
    options = Options(guards="off", high_water_bytes=20_000, flood_factor=3, on_frame=count)
    connection = Connection(CLIENT_SIDE, Asking, back, there, options)
    running = asyncio.create_task(run(connection))
    back.write(line(update("s", "x")))
    await let_others_run(10)  # from now on, reading doesn't pause
    updates = b"".join(line(update("s", str(n))) for n in range(100))
    back.write(updates)
    await wait_until(connection.lifecycle.peer_left.done, lambda: connection.limits.bytes)
    before = received
    back.write(updates)
    await let_others_run(20)
    assert received == before
    may_end.set()
    assert "more than can be handled" in (await running).reason


async def test_rule_18_sending_waits_while_the_peer_does_not_read(link: Link) -> None:
    sent = 0

    class Flooding(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            nonlocal sent
            for _ in range(2000):
                await self.client.session_update(session_id="s", update=chunk("x" * 10_000))
                sent += 1
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Flooding) as peer:
        await peer.send(prompt(1))
        received = 0
        while (await peer.receive()).get("id") != 1:
            received += 1
            # The pipes, sockets and buffers in between hold less than 10 MB of the 20 MB.
            assert sent - received < 1000
        assert received == sent == 2000


async def test_rule_18_responses_that_the_peer_does_not_read_are_a_flood_at_last(link: Link) -> None:
    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return "x" * 100_000

    limits: dict[str, Any] = {"high_water_bytes": 100_000, "flood_factor": 20}
    async with serving(link, Large, flush_deadline=0.1, eof_grace=0.05, **limits) as peer:
        answers = 0
        peer.writer.write(b"".join(line({"id": n, "method": "_large"}) for n in range(100)))
        with pytest.raises(EOFError):
            while True:
                await peer.receive()
                answers += 1
        assert answers < 100


async def test_rule_18_small_responses_that_the_peer_does_not_read_are_a_flood_too() -> None:
    class Small(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return None

    there, back = MemoryPipe(1000), MemoryPipe()
    limits: dict[str, Any] = {"write_high_water_bytes": 1000, "high_water_bytes": 100_000, "flood_factor": 4}
    connection = Connection(AGENT_SIDE, Small, back, there, Options(guards="off", eof_grace=0, **limits))
    running = asyncio.create_task(run(connection))
    back.write(b"".join(line({"id": n, "method": "_small"}) for n in range(2000)))
    await wait_until(connection.lifecycle.peer_left.done, lambda: connection.limits.bytes)
    there.abort()
    assert "more than can be handled" in (await running).reason


async def test_rule_18_responses_that_the_peer_has_read_count_no_longer() -> None:
    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return "x" * 100_000

    async with serving(LINKS["memory"], Large, **FLOOD) as peer:
        for _ in range(10):
            await peer.send(*({"id": n, "method": "_large"} for n in range(3)))
            assert [(await peer.receive())["id"] for _ in range(3)] == [0, 1, 2]
            assert await peer.until_quiet() == []


async def test_rule_18_an_answered_call_returns_even_if_the_pipe_is_full() -> None:
    async with calling(LINKS["memory"], write_high_water_bytes=10) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        id = (await peer.receive())["id"]
        other = asyncio.create_task(agent.ext_request("_large", "x" * 200_000))
        small = asyncio.create_task(agent.ext_request("_small"))
        await asyncio.sleep(0)
        await peer.send(*({"id": call_id, "result": call_id} for call_id in (id, id + 2)))
        assert (await call, await small) == (id, id + 2)
        assert not other.done()
        await peer.send({"id": id + 1, "error": {"code": 1, "message": "too large"}})
        with pytest.raises(RemoteError):
            await other


async def test_rule_18_a_waiting_send_fails_if_the_connection_closes_before_it_is_read(link: Link) -> None:
    async with calling(link, flush_deadline=0.1) as (agent, _):
        sending = asyncio.ensure_future(agent.ext_notification("_large", "x" * 10_000_000))
        await asyncio.sleep(0)
        assert not sending.done()
    with pytest.raises(ConnectionClosed):
        await sending


async def test_rule_18_messages_that_were_handled_count_no_longer() -> None:
    async def answered(agent: RemoteAgent, peer: Peer) -> None:
        call = asyncio.ensure_future(agent.ext_request("_ping"))
        await peer.answer(result=None)
        await call

    async with calling(LINKS["memory"], **FLOOD) as (agent, peer):
        for _ in range(10):
            await peer.send(line(update("s", "x" * 50_000)) * 2)
            await answered(agent, peer)


async def test_rule_18_one_message_is_no_flood_however_large_it_is() -> None:
    async with calling(LINKS["memory"], **FLOOD) as (agent, peer):
        for text in ("first", "second"):
            await peer.send(update("s", text))
            await peer.until_quiet()
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))  # meanwhile reading never pauses
        id = (await peer.receive())["id"]
        await peer.send(update("s", "x" * 1_000_000))
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        assert (await creating).session_id == "new"


@pytest.mark.parametrize(
    "params",
    [{"sessionId": "s", "text": "x" * 200_000}, {"sessionId": "s", "lists": [[]] * 45_000}],
    ids=["text", "lists, which take more memory than bytes"],
)
async def test_rule_18_two_messages_beyond_the_limit_are_a_flood(params: dict[str, Any]) -> None:
    class Stuck(PlainClient):
        async def ext_notification(self, method: str, params: Any, /) -> None:
            await asyncio.Event().wait()

    async with calling(LINKS["memory"], Stuck, **FLOOD, handler_deadline=0.02, eof_grace=0.0) as (agent, peer):
        await peer.send({"method": "_large", "params": params})
        assert await peer.until_quiet() == []
        await peer.send({"method": "_large", "params": params})
        assert "more than can be handled" in (await agent.wait_closed()).reason


async def test_rule_18_a_message_beyond_the_mark_is_written_before_the_iteration_ends() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(write_high_water_bytes=1000))
    unwritten: list[int] = []

    async def send(text: str) -> None:
        sending = asyncio.ensure_future(connection.remote.ext_request("_send", text))
        await asyncio.sleep(0)
        unwritten.append(there.unwritten)
        sending.cancel()

    await asyncio.gather(send("first"), send("small"), send("x" * 1000))
    connection.stop()
    await run(connection)
    assert unwritten[0] < 1000 < unwritten[2]
