"""The promises of a connection that depend on its transport also hold over WebSocket and over HTTP.

The tests are those of the runtime, and some of our own where HTTP differs: a connection begins with `initialize`, what
belongs to a session waits until the client opens its stream, and messages that were written at once may arrive one
after the other.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, SessionNotification
from tests.kit.remote.remote_links import REMOTE_LINKS
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import (
    Link,
    Peer,
    PlainAgent,
    PlainClient,
    calling,
    line,
    prompt,
    serving,
    text_of,
    update,
)

HTTP = REMOTE_LINKS["http"]
# Tests of the runtime that run over both.
TESTS = {
    "order": (
        "15_requests_run_concurrently_and_start_in_wire_order",
        "16_a_response_resolves_after_the_updates_of_its_session_were_handled",
        "17_updates_that_an_agent_sends_are_on_the_wire_before_its_response",
    ),
    "new_sessions": ("16_updates_of_a_new_session_come_after_its_callers_result",),
    "held_notifications": ("17_updates_of_a_new_session_follow_its_response_in_order",),
    "backpressure": ("18_a_waiting_send_fails_if_the_connection_closes_before_it_is_read",),
    "cancellation": ("20_a_cancelled_request_is_answered_request_cancelled",),
    "late_responses": ("19_a_waiting_prompt_fails_when_the_agent_closes",),
    "end_of_file": (
        "22_updates_are_handled_then_responses_then_pending_calls_fail",
        "22_no_update_is_lost_at_any_high_water_mark",
    ),
}
# Those that run over WebSocket only. Below is what holds over HTTP instead.
WEBSOCKET_TESTS = {
    "order": (
        "15_notifications_of_a_session_are_handled_in_order_even_if_handlers_await",
        "15_sessions_do_not_wait_for_each_other",
    ),
    "backpressure": (
        "18_a_flood_while_all_handlers_await_the_peer_closes_the_connection",
        "18_paused_reading_does_not_deadlock_with_handlers_that_call_the_peer",
        "18_sending_waits_while_the_peer_does_not_read",
    ),
    "batches": (
        "4_a_client_answers_a_batch",
        "4_a_batch_of_notifications_is_handled_in_order_and_not_answered",
        "4_responses_in_a_batch_resolve_their_calls",
        "4_the_answers_to_a_batch_come_in_one_array",
    ),
}

for _file, _names in (*TESTS.items(), *WEBSOCKET_TESTS.items()):
    for _name in _names:
        _test = f"test_rule_{_name}"
        globals()[_test] = getattr(import_module(f"tests.runtime.connection.test_{_file}"), _test)


@pytest.fixture
def link(request: pytest.FixtureRequest) -> Link:
    return REMOTE_LINKS[request.param]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "link" in metafunc.fixturenames:
        name = metafunc.function.__name__.removeprefix("test_rule_")
        is_limited = any(name in names for names in WEBSOCKET_TESTS.values())
        metafunc.parametrize("link", ["websocket"] if is_limited else list(REMOTE_LINKS), indirect=True)


async def test_a_message_of_5_megabytes_passes_in_both_directions(link: Link) -> None:
    class Echo(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return params

    text = "x" * 5_000_000
    async with serving(link, Echo) as peer:
        assert (await peer.call("_echo", {"text": text}))["result"] == {"text": text}


async def used(agent: Any, peer: Peer, *sessions: str) -> None:
    """Let a client use sessions."""
    for session in sessions:
        call = asyncio.ensure_future(agent.session_set_mode(session_id=session, mode_id="m"))
        await peer.answer(result={})
        await call


async def test_messages_of_a_session_that_the_client_uses_are_in_order() -> None:
    handled: dict[str, list[str]] = {"a": [], "b": []}
    done = asyncio.Event()

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            texts = handled[notification.session_id]
            await let_others_run(len(texts) % 4)
            texts.append(text_of(notification))
            if sum(map(len, handled.values())) == 200:
                done.set()

    async with calling(HTTP, Slow) as (agent, peer):
        await used(agent, peer, "a", "b")
        await peer.send(*(update("ab"[number % 2], str(number)) for number in range(200)))
        await done.wait()
    assert handled == {letter: [str(number) for number in range(first, 200, 2)] for first, letter in enumerate("ab")}


async def test_handlers_may_call_the_peer_while_messages_wait() -> None:
    handled: list[str] = []
    done = asyncio.Event()

    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            handled.append(text_of(notification))
            if len(handled) == 50:
                done.set()

    async with calling(HTTP, Asking, high_water_messages=5, flood_factor=1000) as (agent, peer):
        await used(agent, peer, "s")
        await peer.send(*(update("s", str(number)) for number in range(50)))
        for _ in range(50):
            await peer.answer(result={})
        await done.wait()
    assert handled == [str(number) for number in range(50)]


async def test_a_line_that_is_not_json_fails_after_earlier_lines_were_sent() -> None:
    async with calling(HTTP) as (agent, peer):
        call = asyncio.ensure_future(agent.ext_request("_call"))
        answer = line({"id": (await peer.receive())["id"], "result": 1})
        with pytest.raises(OSError, match="ValueError"):
            await peer.send(answer, b"x\n")
        assert await call == 1


async def test_an_agent_whose_client_has_left_ends_its_turns(link: Link) -> None:
    clients: list[Any] = []
    started, ended = asyncio.Event(), asyncio.Event()

    class Waiting(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            clients.append(self.client)
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError

    async with serving(link, Waiting, eof_grace=0.05) as peer:
        await peer.send(prompt(1))
        await started.wait()
        await peer.end()
        await ended.wait()
        assert "closed" in (await clients[0].wait_closed()).reason
