"""Rule 22: messages received before the end of the stream are handled before callers learn of the end."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from acp_bindings import v2_draft
from acp_bindings.v1 import SessionNotification, spawn_agent
from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import ConnectionClosed, MessageTooLarge, Options
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run, wait_until
from tests.support.runtime.peer import LINKS, Link, PlainClient, calling, line, text_of, update
from tests.support.scale import count

pytestmark = pytest.mark.every_link

SCRIPT = """
import json, os, sys
def say(**message): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
def updates(count):
    for n in range(count):
        content = {"type": "text", "text": str(n)}
        update = {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": "m"}
        say(method="session/update", params={"sessionId": "s", "update": update})
def asked():
    return json.loads(sys.stdin.readline())["id"]
say(id=asked(), result={"protocolVersion": 1})
sys.stdout.flush()
"""
ANSWERS_AND_EXITS = SCRIPT + "id = asked(); updates(int(sys.argv[1])); say(id=id, result={'stopReason': 'end_turn'})"
CRASHES = SCRIPT + "asked(); updates(int(sys.argv[1])); sys.stdout.flush(); os._exit(7)"
Wait = Callable[[], Any]


async def ten_turns() -> None:
    await let_others_run(10)


def recording(handled: list[str], wait: Wait) -> type[PlainClient]:
    """A client whose handler waits before it records an update."""

    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await wait()
            handled.append(text_of(notification))

    return Recording


def numbers(count: int) -> list[str]:
    return [str(n) for n in range(count)]


def numbered_updates(count: int) -> bytes:
    """Return updates of the session `s` as lines. Their texts are `numbers(count)`."""
    return b"".join(line(update("s", text)) for text in numbers(count))


async def test_rule_22_updates_are_handled_then_responses_then_pending_calls_fail(link: Link) -> None:
    handled: list[str] = []
    async with calling(link, recording(handled, ten_turns)) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        other = asyncio.create_task(agent.session_prompt(session_id="other", prompt=[]))
        ping = asyncio.create_task(agent.ext_request("_ping"))
        id = (await peer.receive())["id"]
        await peer.send(numbered_updates(500) + line({"id": id, "result": {"stopReason": "end_turn"}}))
        await peer.end()
        assert (await turn).stop_reason == "end_turn"
        assert handled == numbers(500)
        for call in (other, ping):
            with pytest.raises(ConnectionClosed):
                await call


async def test_rule_22_pending_calls_fail_after_all_updates_were_handled(link: Link) -> None:
    async def handled_before_the_failure(call: asyncio.Task[Any]) -> list[str]:
        with pytest.raises(ConnectionClosed):
            await call
        return handled.copy()

    handled: list[str] = []
    async with calling(link, recording(handled, ten_turns)) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        ping = asyncio.create_task(agent.ext_request("_ping"))
        await peer.receive()
        await peer.send(numbered_updates(100))
        await peer.end()
        before = await asyncio.gather(*map(handled_before_the_failure, (turn, ping)))
        assert before == [numbers(100)] * 2


async def test_rule_22_a_call_in_an_update_handler_fails_at_once(link: Link) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            with pytest.raises(ConnectionClosed):
                await self.agent.session_set_mode(session_id="s", mode_id="m")
            handled.append(text_of(notification))

    handled: list[str] = []
    async with calling(link, Asking) as (agent, peer):
        await peer.send(numbered_updates(100))
        await peer.end()
        await agent.wait_closed()
        assert handled == numbers(100)


@pytest.mark.parametrize("is_answered", [False, True])
async def test_rule_22_a_stuck_handler_is_abandoned_and_lost_updates_are_counted(link: Link, is_answered: bool) -> None:
    handled: list[str] = []

    async def stuck() -> None:
        if len(handled) == 3:
            await asyncio.Event().wait()

    client = recording(handled, stuck)
    async with calling(link, client, handler_deadline=0.05, eof_grace=0.05) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        id = (await peer.receive())["id"]
        answer = line({"id": id, "result": {"stopReason": "end_turn"}}) if is_answered else b""
        await peer.send(numbered_updates(10) + answer)
        await peer.end()
        with pytest.raises(ConnectionClosed, match=r"\b7 received notifications of session 's'"):
            await turn
        assert handled == numbers(3)


async def test_rule_22_updates_of_a_session_that_is_not_created_any_more_are_handled(link: Link) -> None:
    handled: list[str] = []
    async with calling(link, recording(handled, ten_turns)) as (agent, peer):
        creation = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        await peer.receive()
        await peer.send(*(update("new", text) for text in numbers(3)))
        await peer.end()
        with pytest.raises(ConnectionClosed):
            await creation
        await agent.wait_closed()
        assert handled == numbers(3)


async def test_rule_22_a_handler_waiting_for_anothers_call_learns_of_the_end(link: Link) -> None:
    class Waiting(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            with pytest.raises(ConnectionClosed):
                await call
            ended.append(text_of(notification))

    ended: list[str] = []
    async with calling(link, Waiting, handler_deadline=0.02, eof_grace=0.05) as (agent, peer):
        call = asyncio.ensure_future(agent.ext_request("_ping"))
        await peer.receive()
        await peer.send(update("s", "x"))
        await peer.end()
        await agent.wait_closed()
        assert ended == ["x"]


@pytest.mark.parametrize("is_open", [False, True])
async def test_rule_22_notifications_are_sent_after_eof_on_an_open_connection(link: Link, is_open: bool) -> None:
    class Cancelling(PlainClient):
        async def ext_notification(self, method: str, params: Any) -> None:
            with pytest.raises(ConnectionClosed):
                await self.agent.ext_request("_ping")
            with nullcontext() if is_open else pytest.raises(ConnectionClosed):
                await self.agent.session_cancel(session_id="s")
            ended.append(method)

    ended: list[str] = []
    async with calling(link, Cancelling, ready=is_open) as (agent, peer):
        await peer.send({"method": "_note"})
        await peer.end()
        await agent.wait_closed()
        sent = [message["method"] for message in await peer.rest()]
        assert ended == ["_note"]
        assert sent == ["_ping", *(["session/cancel"] if is_open else [])]
        with pytest.raises(ConnectionClosed):
            await agent.session_cancel(session_id="lost")


@pytest.mark.parametrize("marks", [1, 2, 5, 4096])
async def test_rule_22_no_update_is_lost_at_any_high_water_mark(link: Link, marks: int) -> None:
    handled: list[str] = []
    async with calling(link, recording(handled, ten_turns), high_water_messages=marks) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        id = (await peer.receive())["id"]
        answer = line({"id": id, "result": {"stopReason": "end_turn"}})
        await asyncio.create_task(peer.send(numbered_updates(300) + answer.rstrip()))
        await peer.end()
        await turn
        assert handled == numbers(300)


@pytest.mark.stress
async def test_rule_22_a_slow_handler_gets_all_updates_of_an_agent_that_has_exited() -> None:
    handled: list[str] = []
    # Longer than `eof_grace` in total.
    total = count(40, 100)
    client = recording(handled, lambda: asyncio.sleep(0.02))
    async with spawn_agent(client, sys.executable, "-S", "-c", ANSWERS_AND_EXITS, str(total)) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_prompt(session_id="s", prompt=[])
        assert handled == numbers(total)


async def test_rule_22_a_crash_is_reported_after_the_updates_before_it() -> None:
    handled: list[str] = []
    client = recording(handled, lambda: asyncio.sleep(0.005))
    async with spawn_agent(client, sys.executable, "-S", "-c", CRASHES, str(100)) as agent:
        await agent.initialize(protocol_version=1)
        with pytest.raises(ConnectionClosed) as caught:
            await agent.session_prompt(session_id="s", prompt=[])
        assert caught.value.exit_code == 7
        assert handled == numbers(100)


async def test_rule_22_in_v2_updates_after_the_response_are_handled_before_wait_closed_returns() -> None:
    class Recording(v2_draft.Client):
        async def session_update(self, notification: v2_draft.UpdateSessionNotification, /) -> None:
            await asyncio.sleep(0.005)
            handled.append(notification.session_id)

        async def session_request_permission(self, request: Any, /) -> Any:
            raise AssertionError

    info = '"capabilities": {}, "info": {"name": "x", "version": "1"}'
    script = SCRIPT.replace('"protocolVersion": 1', f'"protocolVersion": 2, {info}')
    script += "say(id=asked(), result={'messageId': 'm'}); updates(100); sys.stdout.flush(); os._exit(3)"
    handled: list[str] = []
    async with v2_draft.spawn_agent(
        lambda agent: Recording(), sys.executable, "-S", "-c", script, options=Options(guards="off")
    ) as agent:
        await agent.initialize(protocol_version=2, info=v2_draft.Implementation(name="x", version="1"))
        await agent.session_prompt(session_id="s", prompt=[v2_draft.ContentBlockText(text="hi")])
        assert (await agent.wait_closed()).exit_code == 3
        assert len(handled) == 100


async def test_rule_22_handlers_that_finish_within_the_deadline_are_not_abandoned(link: Link) -> None:
    handled: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(0.01)

    async with calling(link, recording(handled, slow), handler_deadline=0.2, eof_grace=0.01) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        id = (await peer.receive())["id"]
        answer = line({"id": id, "result": {"stopReason": "end_turn"}})
        await peer.send(numbered_updates(25) + answer)
        await peer.end()
        await turn
        assert handled == numbers(25)


async def test_rule_22_a_call_fails_if_its_response_is_cut_off(link: Link) -> None:
    async with calling(link) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        id = (await peer.receive())["id"]
        await peer.send(line({"id": id, "result": {"stopReason": "end_turn"}})[:-5])
        await peer.end()
        with pytest.raises(ConnectionClosed, match="The peer closed the connection"):
            await turn


@pytest.mark.parametrize("marks", [1, 4096], ids=["paused", "not paused"])
async def test_rule_22_calls_of_a_session_fail_when_its_own_updates_have_been_handled(marks: int) -> None:
    may_end = asyncio.Event()

    class Waiting(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if notification.session_id == "busy":
                await may_end.wait()

    options: dict[str, Any] = {"handler_deadline": 600, "high_water_messages": marks}
    async with calling(LINKS["memory"], Waiting, **options) as (agent, peer):
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        await peer.receive()
        await peer.send(update("s", "1"), *(update("busy", text) for text in numbers(3)))
        await ten_turns()
        await peer.end()
        with pytest.raises(ConnectionClosed):
            await turn
        may_end.set()


async def test_rule_22_updates_are_handled_although_an_answer_can_not_be_written() -> None:
    handled: list[str] = []

    class Asked(recording(handled, ten_turns)):  # type: ignore[misc]
        async def ext_request(self, method: str, params: Any) -> Any:
            await asyncio.Event().wait()

    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, Asked, back, there, Options(guards="off", eof_grace=0))
    there.abort()
    back.write(line({"id": 1, "method": "_ask"}) + b"".join(line(update("s", text)) for text in numbers(10)))
    await back.close()
    assert (await run(connection)).reason == "The peer closed the connection."
    assert handled == numbers(10)


async def test_rule_22_a_message_too_large_is_the_reason_even_if_eof_follows(link: Link) -> None:
    async with calling(link, max_message_bytes=1000) as (agent, peer):
        await peer.send(numbered_updates(100) + b"x" * 2000)
        await peer.end()
        assert isinstance(await agent.wait_closed(), MessageTooLarge)
        assert len(agent.handler.updates) == 100


async def test_rule_22_a_flood_that_has_ended_is_handled() -> None:
    async def wait() -> None:
        await may_begin.wait()

    handled, may_begin = list[str](), asyncio.Event()
    options = Options(guards="off", high_water_bytes=50_000, flood_factor=1)
    connection = Connection(CLIENT_SIDE, recording(handled, wait), MemoryPipe(), MemoryPipe(), options)
    running = asyncio.create_task(run(connection))
    connection.reader.received(numbered_updates(100))
    connection.reader.ended(None)
    await ten_turns()
    may_begin.set()
    assert (await running).reason == "The peer closed the connection."
    assert handled == numbers(100)


async def test_rule_22_waiting_messages_are_discarded_and_freed_when_this_side_ends_the_connection() -> None:
    async def wait() -> None:
        if len(handled) >= 40:
            await may_end.wait()

    handled, may_end = list[str](), asyncio.Event()
    there, back = MemoryPipe(), MemoryPipe()
    options = Options(guards="off", high_water_messages=1)
    connection = Connection(CLIENT_SIDE, recording(handled, wait), back, there, options)
    running, reader = asyncio.create_task(run(connection)), weakref.ref(connection.reader)
    back.write(numbered_updates(100))
    await wait_until(lambda: len(handled) == 40, lambda: handled)  # reading has paused, gone on and paused again
    await ten_turns()
    assert connection.reader.buffered() > 0
    unread = len(connection.reader.lines)
    connection.stop()
    await ten_turns()
    may_end.set()
    await running
    assert unread > 0
    assert len(handled) <= 100 - unread
    del connection, running, there, back
    gc.collect()
    assert reader() is None
