"""Rule 18: how much is taken in and sent before somebody has to wait, and that nobody waits for good."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from acp_bindings.v1 import (
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    SessionNotification,
)
from acp_bindings.v1.connect import CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options, RemoteError
from acp_runtime.connection import Connection, run
from tests.support.runtime.peer import (
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


async def test_rule_18_the_reader_does_not_wait_for_a_handler_of_a_request(link: Link) -> None:
    class Stuck(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await asyncio.Event().wait()
            raise AssertionError

    async with serving(link, Stuck, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        assert (await peer.call("session/new", {"cwd": "/", "mcpServers": []}))["result"]["sessionId"] == "s1"


async def test_rule_18_reading_pauses_past_the_high_water_mark_and_goes_on_below_it() -> None:
    from tests.support.runtime.peer import LINKS

    gate, done = asyncio.Event(), asyncio.Event()
    handled = 0

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            nonlocal handled
            await gate.wait()
            handled += 1
            if handled == 600:
                done.set()

    async with calling(LINKS["memory"], Slow, high_water_messages=10) as (_, peer):
        message = line(update("s", "x" * 1000))
        for _ in range(500):
            peer.writer.write(message)
        for _ in range(50):
            await asyncio.sleep(0)
        # All that was in the pipe has been read as one chunk; what comes now is not read anymore.
        for _ in range(100):
            peer.writer.write(message)
        for _ in range(50):
            await asyncio.sleep(0)
        assert peer.writer.unwritten == 100 * len(message)
        gate.set()
        await done.wait()


async def test_rule_18_a_paused_reader_does_not_deadlock_with_handlers_that_call_the_peer(link: Link) -> None:
    class Reentrant(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            await super().session_update(notification)
            if len(self.updates) == 50:
                done.set()

    done = asyncio.Event()
    clients: list[Reentrant] = []

    def factory(agent: RemoteAgent) -> Reentrant:
        clients.append(Reentrant(agent))
        return clients[0]

    async with calling(link, factory, high_water_messages=5, flood_factor=1000) as (_, peer):
        await peer.send(*(update("s", str(n)) for n in range(50)))
        for _ in range(50):
            await peer.send({"id": (await peer.receive())["id"], "result": {}})
        await done.wait()
        assert [text_of(each) for each in clients[0].updates] == [str(n) for n in range(50)]


async def test_rule_18_updates_beyond_the_high_water_mark_are_handled_in_order(
    link: Link,
) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            handled.append(text_of(notification))
            if len(handled) == 20:
                done.set()

    handled: list[str] = []
    done = asyncio.Event()
    source, writer, peer_source, peer_writer, close = await link()
    connection = Connection(CLIENT_SIDE, Asking, source, writer, Options(guards="off", high_water_messages=5))
    running = asyncio.create_task(run(connection))
    peer = Peer(peer_source, peer_writer)
    await peer.send(*(update("s", str(n)) for n in range(20)), {"id": "quiet", "method": "quiet"})
    asked = [await peer.receive(), await peer.receive()]
    mode = next(each["id"] for each in asked if each["id"] != "quiet")
    for _ in range(19):
        await peer.send({"id": mode, "result": {}})
        mode = (await peer.receive())["id"]
    await peer.send({"id": mode, "result": {}})
    await done.wait()
    assert handled == [str(n) for n in range(20)]
    await peer.end()
    await running
    await peer.stop()
    close()


async def test_rule_18_a_flood_while_every_handler_waits_closes_the_connection(link: Link) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            with pytest.raises(ConnectionClosed, match="more than can be handled"):
                await self.agent.session_set_mode(session_id="s", mode_id="m")
            failed.set()

    failed = asyncio.Event()
    async with calling(link, Asking, high_water_bytes=20_000, flood_factor=3) as (_, peer):
        peer.writer.write(b"".join(line(update("s", str(n))) for n in range(100)))
        await failed.wait()


async def test_rule_18_a_send_waits_while_the_pipe_is_full(link: Link) -> None:
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
        before = -1
        while before != sent or not sent:  # Until it gets no further.
            before = sent
            for _ in range(200):
                await asyncio.sleep(0)
        assert sent * 10_000 < 2_000_000
        while (await peer.receive()).get("id") != 1:
            pass
        assert sent == 2000


async def test_rule_18_a_peer_that_does_not_read_its_answers_is_not_read_either(link: Link) -> None:
    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            nonlocal answered
            answered += 1
            return "x" * 100_000

    answered = 0
    async with serving(link, Large, unread_answer_bytes=1_000_000, flush_deadline=0.2, eof_grace=0.05) as peer:
        for n in range(200):
            peer.writer.write(line({"id": n, "method": "_large"}))
            await _settle()
        assert answered < 60
        assert await _answers(peer, 200) == 200


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def _answers(peer: Peer, expected: int) -> int:
    for _ in range(expected):
        assert "result" in await peer.receive()
    return expected


async def test_rule_18_a_send_that_waits_for_the_peer_fails_if_the_connection_closes_before_it_is_read(
    link: Link,
) -> None:
    async with calling(link, flush_deadline=0.1) as (agent, _):
        sending = asyncio.ensure_future(agent.ext_notification("_large", "x" * 20_000_000))
        await asyncio.sleep(0)
        assert not sending.done()
    with pytest.raises(ConnectionClosed):
        await sending


async def test_rule_18_a_call_that_is_answered_does_not_wait_for_the_pipe_to_have_room() -> None:
    from tests.support.runtime.peer import LINKS

    async with calling(LINKS["memory"], write_high_water_bytes=10) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        id = (await peer.receive())["id"]
        other = asyncio.create_task(agent.ext_request("_large", "x" * 200_000))
        small = asyncio.create_task(agent.ext_request("_small"))
        await asyncio.sleep(0)
        await peer.send(*({"id": each, "result": each} for each in (id, id + 2)))
        assert (await call, await small) == (id, id + 2)
        assert not other.done()
        await peer.send({"id": id + 1, "error": {"code": 1, "message": "too large"}})
        with pytest.raises(RemoteError):
            await other


async def test_rule_18_a_call_that_is_cancelled_while_the_pipe_is_full_leaves_no_error_to_nobody() -> None:
    from tests.support.runtime.peer import LINKS

    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    async with calling(LINKS["memory"], write_high_water_bytes=10) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_large", "x" * 200_000))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await peer.send({"id": 1, "error": {"code": 1, "message": "too large"}})
        while not call.done():
            await asyncio.sleep(0)
            call.cancel()
        del call
    gc.collect()
    assert told == []
