"""A callback that blocks runs in the thread that waits for the turn, and the event loop goes on."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import PermissionHandlers, PermissionPolicy, UpdateHandlers, allow
from acp_kit.client.permission_rules import Rule
from acp_kit.sync import SyncAgent, SyncSession, in_waiting_thread, spawn_agent
from tests.support.kit import acting_agent
from tools.paths import ROOT


def acting(**keywords: Any) -> SyncAgent:
    return spawn_agent(*acting_agent.COMMAND, cwd=ROOT, **keywords)


def allow_once(request: v1.RequestPermissionRequest) -> str:
    return next(option.option_id for option in request.options if option.kind == "allow_once")


@pytest.mark.parametrize(("rules", "reply"), [([], "no"), ([allow(kinds={"delete"})], "yes")])
def test_rules_decide_and_without_them_permissions_are_rejected(rules: list[Rule], reply: str) -> None:
    with acting(rules=rules) as agent, agent.open_session() as session:
        assert session.ask("ask") == f"May I? {reply}"


def test_the_user_is_asked_in_the_thread_that_waits() -> None:
    asked: list[tuple[str | None, threading.Thread]] = []

    def ask(request: v1.RequestPermissionRequest) -> str:
        asked.append((request.tool_call.title, threading.current_thread()))
        return allow_once(request)

    with acting(ask=ask) as agent, agent.open_session() as session:
        assert session.ask("ask") == "May I? yes"
    assert asked == [("Delete everything", threading.main_thread())]


def test_a_callback_that_raises_stop_iteration_answers_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def ask(request: v1.RequestPermissionRequest) -> str:
        return next(option.option_id for option in request.options if option.name == "Perhaps")

    with acting(ask=ask) as agent, agent.open_session() as session:
        assert session.ask("ask", timeout=30) == "May I? no"
    assert "A callback has raised StopIteration" in caplog.text


def test_the_loop_over_a_turn_reads_updates_that_came_before_the_question() -> None:
    seen: list[str] = []

    def ask(request: v1.RequestPermissionRequest) -> None:
        seen.append("question")

    with acting(ask=ask) as agent, agent.open_session() as session, session.prompt("ask") as turn:
        for update in turn:
            seen.append(update.session_update)
    assert seen == [*("agent_message_chunk", "tool_call", "question"), *("tool_call_update", "agent_message_chunk")]


def test_the_event_loop_goes_on_while_a_callback_blocks() -> None:
    others: list[SyncSession] = []
    replies: list[str] = []

    def use_the_agent(request: v1.RequestPermissionRequest) -> str:
        replies.append(others[0].ask("meanwhile"))
        return allow_once(request)

    with acting(ask=use_the_agent) as agent, agent.open_session() as session:
        others.append(agent.open_session())
        replies.append(session.ask("ask"))
    assert replies == ["meanwhile", "May I? yes"]


def test_each_session_asks_in_its_own_thread() -> None:
    asked: dict[str, str] = {}
    both = threading.Barrier(2, timeout=60)

    def ask(request: v1.RequestPermissionRequest) -> str:
        both.wait()
        asked[request.session_id] = threading.current_thread().name
        return allow_once(request)

    with acting(ask=ask) as agent:
        sessions = [agent.open_session(), agent.open_session()]
        threads = [threading.Thread(target=session.ask, args=["ask"], name=session.id) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert asked == {session.id: session.id for session in sessions}


def test_ctrl_c_in_a_question_ends_the_wait_and_cancels_the_turn() -> None:
    def ask(request: v1.RequestPermissionRequest) -> str:
        raise KeyboardInterrupt

    with acting(ask=ask) as agent, agent.open_session() as session:
        with session.prompt("ask") as turn, pytest.raises(KeyboardInterrupt):
            turn.wait()
        assert turn.stop_reason == "cancelled"
        assert session.ask("again") == "again"


def test_a_question_that_fails_after_its_turn_was_cancelled_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def ask(request: v1.RequestPermissionRequest) -> str:
        turn.cancel()
        raise OSError("the dialog was closed")

    with acting(ask=ask) as agent, agent.open_session() as session, session.prompt("ask") as turn:
        assert turn.wait().stop_reason == "cancelled"
    assert "the dialog was closed" in caplog.text


def test_a_client_of_its_own_can_ask_in_the_waiting_thread() -> None:
    asked: list[threading.Thread] = []

    def ask(request: v1.RequestPermissionRequest) -> str:
        asked.append(threading.current_thread())
        return allow_once(request)

    class OwnClient(UpdateHandlers, PermissionHandlers, v1.Client):
        def __init__(self, agent: v1.RemoteAgent) -> None:
            self.agent = agent
            self.permissions = PermissionPolicy(ask=in_waiting_thread(ask))

    with acting(client=OwnClient) as agent, agent.open_session() as session:
        assert session.ask("ask") == "May I? yes"
    assert asked == [threading.current_thread()]


def test_a_permission_in_a_session_opened_otherwise_is_an_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with acting(ask=allow_once) as agent, caplog.at_level(logging.ERROR):
        opened = agent.call(agent.remote.session_new, cwd=str(ROOT), mcp_servers=[])
        prompt = [v1.ContentBlockText(text="ask")]
        agent.call(agent.remote.session_prompt, session_id=opened.session_id, prompt=prompt)
    assert "was not opened with `open_session`" in caplog.text
