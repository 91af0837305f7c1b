"""The synchronous classes do what the asynchronous ones do, with an agent in a process of its own."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from acp_bindings import v1
from acp_kit.sync import SyncAgent, spawn_agent
from acp_runtime import CapabilityError, ConnectionClosed, Options
from tests.support.kit import mortal_agent
from tests.support.kit.acting_agent import COMMAND
from tests.support.kit.turns import KeepingClient
from tests.support.marked_processes import marked, wait_until_left
from tools.paths import ROOT


@pytest.fixture(scope="module")
def agent() -> Iterator[SyncAgent]:
    with spawned() as agent:
        yield agent


def in_threads(*works: object) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for work in works]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    return threads


def spawned(**options: Any) -> SyncAgent:
    return spawn_agent(*COMMAND, cwd=ROOT, **options)


def test_a_script_asks_and_leaves_nothing() -> None:
    before = threading.enumerate()
    frames: list[str] = []
    options = Options(on_frame=lambda direction, line, seconds: frames.append(direction))
    with spawned(options=options) as agent, agent.open_session() as session:
        assert frames == ["out", "in"] * 2
        assert session.ask("hello") == "hello"
        assert session.ask([v1.ContentBlockText(text="a"), v1.ContentBlockText(text="b")]) == "a\nb"
    assert [thread for thread in threading.enumerate() if thread not in before and thread.name == "acp-sync"] == []


def test_the_updates_of_a_turn_are_read_with_for(agent: SyncAgent) -> None:
    with agent.open_session() as session, session.prompt("hello") as turn:
        assert [update.session_update for update in turn] == ["agent_message_chunk"]
        assert (turn.text, turn.stop_reason, turn.ended) == ("hello", "end_turn", True)


def test_leaving_the_block_of_a_turn_cancels_it(agent: SyncAgent) -> None:
    with agent.open_session() as session:
        with session.prompt("wait") as turn:
            assert next(turn).session_update == "agent_message_chunk"
        assert turn.stop_reason == "cancelled"
        assert session.ask("again") == "again"


def test_the_arguments_of_a_session_reach_the_agent(tmp_path: Path) -> None:
    server = v1.McpServerStdio(name="tools", command="/bin/tools", args=[], env=[])
    command, env = [*mortal_agent.COMMAND, "load", "resume"], {"PYTHONPATH": str(ROOT)}
    with spawn_agent(*command, cwd=tmp_path, env=env) as agent:
        with agent.open_session(cwd="/a", mcp_servers=[server], additional_directories=["/b"]) as session:
            pass
        for arguments in ({}, {"load": session.id}, {"resume": session.id}):
            agent.open_session(**arguments).close()
        (tmp_path / "stuck").write_text(session.id)
        with pytest.raises(TimeoutError, match="session/load"):
            agent.open_session(load=session.id, timeout=0)
    first, *others = mortal_agent.read_openings(tmp_path)
    assert first["params"] == {"cwd": "/a", "mcpServers": [server.model_dump()], "additionalDirectories": ["/b"]}
    assert [opening["method"] for opening in others][:3] == ["session/new", "session/load", "session/resume"]
    assert {opening["params"]["cwd"] for opening in others} == {str(Path.cwd())}


def test_a_turn_that_is_left_is_given_as_long_as_the_caller_says(agent: SyncAgent) -> None:
    with agent.open_session() as session:
        with session.prompt("wait", cancel_deadline=0) as turn:
            next(turn)
        assert turn.stop_reason is None


def test_an_error_in_the_block_ends_the_agent() -> None:
    with marked() as marker:
        with (
            pytest.raises(ZeroDivisionError),
            spawned(env={marker: "1"}) as agent,
            agent.open_session() as session,
            session.prompt("wait"),
        ):
            _ = 1 / 0
        assert not wait_until_left(marker)


def test_a_reply_that_takes_too_long_is_cancelled(agent: SyncAgent) -> None:
    with agent.open_session() as session:
        with pytest.raises(TimeoutError, match="not ended in time"):
            session.ask("wait", timeout=0.1)
        assert session.ask("again", timeout=60) == "again"


def test_a_second_turn_of_a_session_is_refused_while_the_first_one_runs(agent: SyncAgent) -> None:
    with agent.open_session() as session, session.prompt("wait"):
        refused: list[str] = []

        def ask() -> None:
            with pytest.raises(RuntimeError) as raised:
                session.ask("hello")
            refused.append(str(raised.value))

        [thread] = in_threads(ask)
        thread.join()
    assert refused == ["The last turn of this session has not ended. Leave its block first, or open another session."]


def test_other_methods_of_the_agent_can_be_called(agent: SyncAgent) -> None:
    assert agent.remote.supports("session/list") is False
    with pytest.raises(CapabilityError):
        agent.call(agent.remote.session_list)


def test_objects_can_be_used_without_blocks_and_read_when_they_are_closed() -> None:
    agent = spawned()
    session = agent.open_session()
    with session.prompt("hello") as turn:
        response = turn.wait()
        for _ in range(2):
            session.close()
        with pytest.raises(RuntimeError, match="The session is closed"):
            session.ask("hello")
        for _ in range(2):
            agent.close()
    session.close()
    with pytest.raises(ConnectionClosed, match="closed by this side"):
        session.ask("hello")
    assert (session.state.text, turn.text, turn.response, turn.stop_reason) == ("hello", "hello", response, "end_turn")


def test_closing_the_agent_in_another_thread_ends_a_wait() -> None:
    agent = spawned()
    with pytest.raises(ConnectionClosed), agent.open_session().prompt("wait") as turn:
        next(turn)
        in_threads(agent.close)
        turn.wait()
    agent.close()


def test_an_agent_that_exits_ends_the_turn_with_an_error() -> None:
    with spawned() as agent, pytest.raises(ConnectionClosed, match="Exit code: 3"):
        agent.open_session().ask("exit")


def test_an_unreferenced_agent_is_ended() -> None:
    with marked() as marker:
        agent = spawned(env={marker: "1"})
        agent.open_session()
        del agent
        gc.collect()
        assert not wait_until_left(marker)


def test_an_agent_that_does_not_answer_is_ended() -> None:
    with marked() as marker:
        with pytest.raises(TimeoutError, match=r"`initialize` within 0\.2 seconds\. Most agents speak ACP only"):
            spawn_agent(sys.executable, "-c", "input(), input()", env={marker: "1"}, timeout=0.2)
        assert not wait_until_left(marker)


def test_a_client_of_its_own_can_be_used() -> None:
    with spawned(client=KeepingClient) as agent:
        kept = cast("KeepingClient", agent.remote.handler)
        with agent.open_session() as session, session.prompt("hello") as turn:
            turn.wait()
    assert [update.content.text for update in kept.updates] == ["hello"]
    with pytest.raises(ValueError, match="Pass `client`, or"):
        spawned(client=KeepingClient, ask=lambda request: None)


def test_a_call_in_an_event_loop_is_refused(agent: SyncAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)

    async def calls() -> None:
        with pytest.raises(
            RuntimeError, match="This thread runs an event loop, which would stop while this call waits"
        ):
            agent.open_session()
        with pytest.raises(RuntimeError, match=r"Use acp_kit\.client with `await` there"):
            spawned()

    asyncio.run(calls())


def test_a_call_in_a_handler_of_the_client_is_refused_also_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", "In : ", raising=False)
    refused: list[str] = []

    class Waiting(KeepingClient):
        async def session_update(self, notification: v1.SessionNotification) -> None:
            with pytest.raises(RuntimeError) as raised:
                session.ask("again")
            refused.append(str(raised.value))

    with spawned(client=Waiting) as agent, agent.open_session() as session:
        session.ask("hello")
    assert refused == ["A handler of the agent's client can't wait for the agent without `await`."]


def test_a_call_in_the_event_loop_of_a_notebook_works(agent: SyncAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", "In : ", raising=False)

    async def cell() -> str:
        with agent.open_session() as session:
            return session.ask("hello")

    assert asyncio.run(cell()) == "hello"
