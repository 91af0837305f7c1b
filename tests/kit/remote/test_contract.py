"""The tests of connections that depend on a transport also run over WebSocket and over HTTP.

`LIMITS` lists those that can't, and for each reason a test, at the end of this file, of what does hold.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

import pytest

from acp_bindings.v1 import (
    CancelNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    PromptRequest,
    PromptResponse,
    SessionNotification,
)
from tests.support.kit.remote_links import REMOTE_LINKS
from tests.support.runtime.peer import (
    INITIALIZE,
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

FILES = (
    "backpressure",
    "cancellation",
    "end_of_file",
    "held_notifications",
    "ids_and_responses",
    "large_messages",
    "late_responses",
    "leaving",
    "new_sessions",
    "order",
    "remote_errors",
)


@dataclass(frozen=True)
class Limit:
    """Why tests can't run over a transport.

    Attributes:
        links: the transports.
        reason: what they can't promise.
        holds: the tests, in this file, of what does hold.
        tests: the names of the tests, without their beginning `test_rule_`.
    """

    links: tuple[str, ...]
    reason: str
    holds: tuple[str, ...]
    tests: tuple[str, ...]


LIMITS = (
    Limit(
        ("http",),
        "A connection over HTTP begins with `initialize`.",
        ("test_another_message_before_initialize_is_answered_with_an_error",),
        (
            "7_an_error_echoes_the_id_exactly",
            "16_updates_of_a_forked_session_are_handled_after_its_caller_has_the_result",
            "18_errors_that_the_peer_does_not_read_are_a_flood_at_last",
            "18_updates_beyond_the_high_water_mark_are_handled_in_order",
            "22_after_a_handler_that_ignores_its_cancellation_no_other_starts",
            "22_closing_discards_waiting_messages_with_one_warning",
            "22_updates_kept_for_a_new_session_are_handled_or_counted_as_discarded",
            "22_what_is_discarded_is_counted_once_even_if_the_closing_is_hurried",
        ),
    ),
    Limit(
        ("http",),
        "What belongs to a session waits until the client opens its stream, when it knows the session.",
        (
            "test_messages_of_a_session_wait_until_the_client_uses_it",
            "test_messages_of_a_session_that_the_client_uses_are_in_order",
            "test_sessions_that_the_client_uses_do_not_wait_for_each_other",
            "test_sending_waits_while_a_session_is_not_read",
            "test_handlers_may_call_the_peer_while_messages_wait",
            "test_a_cancelled_turn_answers_only_its_own_permission_requests",
        ),
        (
            "15_notifications_of_a_session_are_handled_in_order_even_if_handlers_await",
            "15_sessions_do_not_wait_for_each_other",
            "16_a_call_from_inside_a_notification_handler_does_not_deadlock",
            "16_kept_updates_do_not_block_the_response_that_names_their_session",
            "17_a_created_session_without_an_id_is_an_error_and_holds_nothing",
            "17_nothing_is_held_if_no_session_is_being_created",
            "17_updates_of_a_session_that_failed_to_close_are_not_held",
            "17_updates_of_other_sessions_and_requests_are_not_held",
            "18_a_flood_while_all_handlers_await_the_peer_closes_the_connection",
            "18_a_full_queue_that_awaits_the_peer_does_not_wait_for_other_sessions",
            "18_a_large_request_in_flight_does_not_hold_back_updates",
            "18_paused_reading_does_not_deadlock_with_handlers_that_call_the_peer",
            "18_sending_waits_while_the_peer_does_not_read",
            "19_permission_requests_of_a_cancelled_turn_are_answered_cancelled",
            "21_cancelling_a_turn_answers_its_permission_requests",
            "21_waiting_permission_requests_are_answered_cancelled",
            "22_a_call_in_a_handler_of_an_update_fails_at_once_and_the_rest_is_handled",
        ),
    ),
    Limit(
        ("http",),
        "Only JSON can be sent.",
        ("test_a_line_that_is_not_json_fails_to_be_sent_after_those_before",),
        ("19_a_late_response_that_is_not_json_ends_the_wait",),
    ),
    Limit(
        ("http", "websocket"),
        "A client that ends the connection ends both directions.",
        ("test_an_agent_whose_client_has_left_ends_its_turns",),
        ("17_no_response_and_no_update_is_lost_when_the_client_closes",),
    ),
    Limit(
        ("http", "websocket"),
        "Messages that were written at once may arrive one after the other, with answers in between.",
        ("test_answers_are_a_flood_at_last_if_none_is_read",),
        ("18_responses_that_the_peer_does_not_read_are_a_flood_at_last",),
    ),
    Limit(
        ("http",),
        "Messages that were written at once may arrive one after the other, with answers in between.",
        ("test_closing_a_session_ends_the_turns_that_came_before",),
        ("21_a_handler_of_another_message_may_cancel_the_turns_of_a_session",),
    ),
)

for _file in FILES:
    for _name, _test in vars(import_module(f"tests.runtime.connection.test_{_file}")).items():
        if _name.startswith("test_") and "link" in signature(_test).parameters:
            globals()[_name] = _test


@pytest.fixture
def link(request: pytest.FixtureRequest) -> Link:
    return REMOTE_LINKS[request.param]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "link" in metafunc.fixturenames:
        name = metafunc.function.__name__.removeprefix("test_rule_")
        limited = {link for limit in LIMITS if name in limit.tests for link in limit.links}
        metafunc.parametrize("link", [link for link in REMOTE_LINKS if link not in limited], indirect=True)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.reason)
def test_the_tests_of_a_limit_exist(limit: Limit) -> None:
    assert limit.holds
    for name in (*limit.holds, *(f"test_rule_{each}" for each in limit.tests)):
        assert name in globals(), name


async def test_another_message_before_initialize_is_answered_with_an_error(link: Link) -> None:
    async with serving(link, ready=False) as peer:
        assert "error" in await peer.call("session/new", {"cwd": "/", "mcpServers": []})
        assert (await peer.call("initialize", INITIALIZE))["result"]["protocolVersion"] == 1


async def test_messages_of_a_session_wait_until_the_client_uses_it(link: Link) -> None:
    class Telling(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            for number in range(3):
                await self.client.session_update(session_id="s1", update=chunk(str(number)))

        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await self.client.session_update(session_id="s1", update=chunk("3"))
            return await super().session_prompt(request)

    async with serving(link, Telling) as peer:
        await peer.send({"id": "tell", "method": "_tell"}, prompt("turn"))
        messages = [await peer.receive() for _ in range(6)]
    found = [each.get("id") or each["params"]["update"]["content"]["text"] for each in messages]
    found.remove("tell")  # over HTTP, it may come before or after the updates
    assert found == ["0", "1", "2", "3", "turn"]


async def used(agent: Any, peer: Peer, *sessions: str) -> None:
    """Let a client use sessions."""
    for session in sessions:
        call = asyncio.ensure_future(agent.session_set_mode(session_id=session, mode_id="m"))
        await peer.send({"id": (await peer.receive())["id"], "result": {}})
        await call


async def test_messages_of_a_session_that_the_client_uses_are_in_order(link: Link) -> None:
    handled: dict[str, list[str]] = {"a": [], "b": []}
    done = asyncio.Event()

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            texts = handled[notification.session_id]
            for _ in range(len(texts) % 4):
                await asyncio.sleep(0)
            texts.append(text_of(notification))
            if sum(map(len, handled.values())) == 200:
                done.set()

    async with calling(link, Slow) as (agent, peer):
        await used(agent, peer, "a", "b")
        await peer.send(*(update("ab"[number % 2], str(number)) for number in range(200)))
        await done.wait()
    assert handled == {each: [str(number) for number in range(first, 200, 2)] for first, each in enumerate("ab")}


async def test_sessions_that_the_client_uses_do_not_wait_for_each_other(link: Link) -> None:
    gate, done = asyncio.Event(), asyncio.Event()

    class Blocking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await gate.wait() if notification.session_id == "slow" else done.set()

    async with calling(link, Blocking) as (agent, peer):
        await used(agent, peer, "slow", "fast")
        await peer.send(update("slow", "1"), update("fast", "1"))
        await done.wait()
        gate.set()


async def test_sending_waits_while_a_session_is_not_read(link: Link) -> None:
    sent = 0

    class Flooding(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            nonlocal sent
            for _ in range(2000):
                await self.client.session_update(session_id="s1", update=chunk("x" * 10_000))
                sent += 1
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Flooding) as peer:
        await peer.send(prompt(1))
        received = 0
        while (await peer.receive()).get("id") != 1:
            received += 1
            assert sent - received < 1000
        assert received == sent == 2000


async def test_handlers_may_call_the_peer_while_messages_wait(link: Link) -> None:
    handled: list[str] = []
    done = asyncio.Event()

    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            handled.append(text_of(notification))
            if len(handled) == 50:
                done.set()

    async with calling(link, Asking, high_water_messages=5, flood_factor=1000) as (agent, peer):
        await used(agent, peer, "s")
        await peer.send(*(update("s", str(number)) for number in range(50)))
        for _ in range(50):
            await peer.send({"id": (await peer.receive())["id"], "result": {}})
        await done.wait()
    assert handled == [str(number) for number in range(50)]


async def test_a_cancelled_turn_answers_only_its_own_permission_requests(link: Link) -> None:
    class Thinking(PlainClient):
        async def session_request_permission(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

    async with calling(link, Thinking, eof_grace=0.05) as (agent, peer):
        await used(agent, peer, "s1", "other")
        for id, session in (("p1", "s1"), ("p2", "other")):
            params = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []}
            await peer.send({"id": id, "method": "session/request_permission", "params": params})
        await peer.until_quiet()
        await agent.session_cancel(session_id="s1")
        messages = [await peer.receive(), await peer.receive()]
        assert [each.get("id", each.get("method")) for each in messages] == ["session/cancel", "p1"]
        assert await peer.until_quiet() == []


async def test_a_line_that_is_not_json_fails_to_be_sent_after_those_before() -> None:
    async with calling(REMOTE_LINKS["http"]) as (agent, peer):
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


async def test_answers_are_a_flood_at_last_if_none_is_read(link: Link) -> None:
    clients: list[Any] = []

    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            clients.append(self.client)
            return "x" * 1_000_000

    limits: dict[str, Any] = {"high_water_bytes": 100_000, "flood_factor": 20}
    async with serving(link, Large, flush_deadline=0.1, eof_grace=0.05, **limits) as peer:
        peer.writer.write(b"".join(line({"id": number, "method": "_large"}) for number in range(100)))
        while not clients:
            await asyncio.sleep(0)
        assert "flood_factor" in (await clients[0].wait_closed()).reason
        peer.writer.abort()


async def test_closing_a_session_ends_the_turns_that_came_before(link: Link) -> None:
    class Closing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await asyncio.Event().wait()
            raise AssertionError

        async def session_close(self, request: CloseSessionRequest, /) -> CloseSessionResponse:
            await self.session_cancel(CancelNotification(session_id=request.session_id))
            return CloseSessionResponse()

    async with serving(link, Closing, eof_grace=0.05) as peer:
        close = {"id": 3, "method": "session/close", "params": {"sessionId": "s1"}}
        await peer.send(prompt(1, "other"), prompt(2), close)
        answers = {each["id"]: each["result"] for each in [await peer.receive(), await peer.receive()]}
        assert answers == {2: {"stopReason": "cancelled"}, 3: {}}
        assert await peer.until_quiet() == []
