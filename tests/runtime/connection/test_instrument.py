"""`Options.instrument` is entered and left around each message, and may replace the params of those that are sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from acp_runtime import ExtRequest, InstrumentedMessage, Model, RemoteError
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, chunk, prompt, serving, update


class Recorder:
    """Records the messages that are entered and left, and the exceptions that they are left with."""

    def __init__(self) -> None:
        self.messages: list[InstrumentedMessage] = []
        self.events: list[str] = []

    @contextmanager
    def __call__(self, message: InstrumentedMessage) -> Generator[Any]:
        name = f"{message.direction} {message.wire}"
        self.messages.append(message)
        self.events.append(f"enter {name}")
        try:
            yield message.params
        except BaseException as error:
            self.events.append(f"leave {name}: {type(error).__name__}")
            raise
        self.events.append(f"leave {name}")

    def clear(self) -> None:
        self.messages.clear()
        self.events.clear()


class Telling(PlainAgent):
    """An agent that sends an update in its turn."""

    async def session_prompt(self, request: Any, /) -> Any:
        await self.client.session_update(session_id="s1", update=chunk("hi"))
        return await super().session_prompt(request)


async def test_a_handler_runs_inside_and_so_do_the_messages_that_it_sends(link: Link) -> None:
    recorder = Recorder()
    async with serving(link, Telling, instrument=recorder) as peer:
        recorder.clear()
        await peer.send(prompt("a"))
        assert (await peer.receive())["method"] == "session/update"
        assert (await peer.receive())["id"] == "a"
    assert recorder.events == [
        "enter in session/prompt",
        "enter out session/update",
        "leave out session/update",
        "leave in session/prompt",
    ]
    described = [(message.id, message.session, message.method and message.method.wire) for message in recorder.messages]
    assert described == [("a", "s1", "session/prompt"), (None, "s1", "session/update")]
    assert recorder.messages[0].params.session_id == "s1"


async def test_a_call_is_left_when_its_response_is_here(link: Link) -> None:
    recorder = Recorder()
    async with calling(link, instrument=recorder) as (agent, peer):
        recorder.clear()
        call = asyncio.create_task(agent.ext_request("_ping", {"n": 1}))
        request = await peer.receive()
        assert recorder.events == ["enter out _ping"]
        assert (recorder.messages[0].id, recorder.messages[0].method) == (request["id"], None)
        await peer.send({"id": request["id"], "error": {"code": 5, "message": "no"}})
        with pytest.raises(RemoteError):
            await call
    assert recorder.events == ["enter out _ping", "leave out _ping: RemoteError"]


async def test_a_call_and_a_handler_that_are_cancelled_are_left_with_the_cancellation(link: Link) -> None:
    class Waiting(PlainClient):
        async def session_request_permission(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

    recorder = Recorder()
    async with calling(link, Waiting, instrument=recorder) as (agent, peer):
        recorder.clear()
        call = asyncio.create_task(agent.ext_request("_ping"))
        await peer.receive()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await peer.receive()  # the notification that cancels it
        tool = {"toolCallId": "1"}
        permission = {"sessionId": "s1", "toolCall": tool, "options": []}
        await peer.send({"id": 1, "method": "session/request_permission", "params": permission})
        await peer.until_quiet()
        await peer.send({"method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await peer.receive())["error"]["code"] == -32800
    assert [event for event in recorder.events if "$/cancel_request" not in event] == [
        "enter out _ping",
        "leave out _ping: CancelledError",
        "enter in session/request_permission",
        "leave in session/request_permission: CancelledError",
    ]


async def test_handlers_of_notifications_run_inside_in_order(link: Link) -> None:
    recorder = Recorder()
    async with calling(link, instrument=recorder) as (_, peer):
        recorder.clear()
        await peer.send(update("s1", "a"), {"method": "_note", "params": {"sessionId": "s1"}}, update("s1", "b"))
        await peer.until_quiet()
    wires = ["session/update", "_note", "session/update"]
    assert recorder.events == [f"{step} in {wire}" for wire in wires for step in ("enter", "leave")]
    assert [message.method and message.method.wire for message in recorder.messages] == [wires[0], None, wires[2]]
    assert [message.session for message in recorder.messages] == ["s1", "s1", "s1"]


class Ping(Model):
    text: str


PING = ExtRequest("_acme/ping", Ping, Ping)


async def test_what_it_yields_is_sent_instead_of_the_params(link: Link) -> None:
    @contextmanager
    def replacing(message: InstrumentedMessage) -> Generator[Any]:
        params: Any = message.params
        yield {**params, "added": message.wire} if isinstance(params, dict) else params

    async with calling(link, instrument=replacing) as (agent, peer):
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await agent.call(PING, Ping(text="hi"))
        assert (await peer.receive())["params"] == {"text": "hi", "added": "_acme/ping"}
        assert (await peer.receive())["method"] == "$/cancel_request"
        await agent.ext_notification("_note", {})
        assert (await peer.receive())["params"] == {"added": "_note"}


async def test_an_exception_of_the_instrument_fails_the_call_or_the_request(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(message: InstrumentedMessage) -> Any:
        raise LookupError(message.wire)

    async with calling(link, instrument=failing, ready=False) as (agent, peer):
        with pytest.raises(LookupError, match="_ping"):
            await agent.ext_request("_ping")
        with pytest.raises(LookupError, match="_note"):
            await agent.ext_notification("_note")
        assert await peer.until_quiet() == []
    async with serving(link, instrument=failing, ready=False) as peer:
        assert (await peer.call("_ping"))["error"]["code"] == -32603
        await peer.send({"method": "_note"})
        await peer.until_quiet()
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR] == [
        "The handler of _ping failed",
        "The handler of _note failed",
    ]
