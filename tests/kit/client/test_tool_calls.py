"""Tool calls in the state of a session: the questions about them, and how they end."""

from __future__ import annotations

from typing import Any

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import PermissionPolicy, SessionState
from acp_kit.content import diff
from acp_kit.testing import ScriptedAgent, connect
from tests.support.kit.turns import Viewer

Start, Update, Asked = v1.SessionUpdateToolCall, v1.SessionUpdateToolCallUpdate, v1.ToolCallUpdate
DIFF = diff("/x", "a", "b")


async def test_what_the_user_is_asked_about_is_in_the_state() -> None:
    contents: list[Any] = []

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", content=[DIFF], tool_call_id="1") as call:
            call.output(DIFF)
            await call.ask()

    async def user(_: v1.RequestPermissionRequest) -> None:
        contents.append(session.state.tool_calls["1"].content)

    async with connect(ScriptedAgent(act), Viewer) as session:
        session.agent.handler.permissions = PermissionPolicy(ask=user)  # type: ignore[attr-defined]
        await session.ask("go")
    assert contents == [[DIFF, DIFF]]


def test_a_question_with_its_own_id_is_gone_when_the_turn_ends() -> None:
    state = SessionState()
    for update in (
        Start(tool_call_id="1", title="earlier", status="completed"),
        Asked(tool_call_id="question", title="May I?"),
        Asked(tool_call_id="1", title="May I?"),
        Start(tool_call_id="2", title="a", status="completed"),
    ):
        state.apply(update)
    assert len(state.timeline) == 4
    state.end_message()
    assert [entry.title for entry in state.timeline if isinstance(entry, v1.ToolCall)] == ["earlier", "a"]
    assert {name: call.title for name, call in state.tool_calls.items()} == {"1": "earlier", "2": "a"}


def test_a_tool_call_of_a_turn_that_is_over_runs_no_longer() -> None:
    state = SessionState()
    state.apply(Start(tool_call_id="1", title="a", status="in_progress"))
    (a,) = state.tool_calls.values()
    assert (state.running_calls, state.status_of(a)) == ({"1": a}, "in_progress")
    state.end_message()
    assert (state.running_calls, state.status_of(a)) == ({}, "cancelled")
    state.apply(Start(tool_call_id="1", title="a", status="in_progress"))
    old, new = state.timeline
    assert isinstance(old, v1.ToolCall)
    assert isinstance(new, v1.ToolCall)
    assert (state.status_of(old), state.status_of(new)) == ("cancelled", "in_progress")
    state.apply(Update(tool_call_id="1", status="failed"))
    assert (state.running_calls, state.status_of(state.tool_calls["1"])) == ({}, "failed")


def test_a_late_update_of_a_stopped_tool_call_says_how_it_ended() -> None:
    state = SessionState()
    state.apply(Start(tool_call_id="1", title="a", status="in_progress"))
    state.stop_calls()
    state.apply(Update(tool_call_id="1", title="b"))
    assert state.status_of(state.tool_calls["1"]) == "cancelled"
    state.apply(Start(tool_call_id="1", title="c"))
    assert (len(state.timeline), state.status_of(state.tool_calls["1"])) == (1, "cancelled")
    state.apply(Update(tool_call_id="1", status="completed"))
    assert state.status_of(state.tool_calls["1"]) == "completed"
