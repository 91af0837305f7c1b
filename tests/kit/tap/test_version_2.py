"""Recordings of version 2: turns begin with the user's message and end with `idle`, and things have ids."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from acp_kit.recording.file_format import Recorded, read_recording
from acp_kit.tap.analysis import analyse
from acp_kit.tap.row import Row
from tests.support.kit.tapped import tap_command

AGENT = """
import asyncio
from acp_bindings import v1, v2_draft as v2
from acp_kit.agent import Sessions
from acp_kit.versions import as_v2

class PlanningAgent(v1.Agent):
    def __init__(self, client):
        self.client, self.sessions = client, Sessions()

    async def initialize(self, request):
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request):
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request):
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await turn.say("Let me ")
            await turn.say("look.")
            for status in ("pending", "completed"):
                entries = [v1.PlanEntry(content="look", priority="low", status=status)]
                plan = v1.SessionUpdatePlan(entries=entries)
                await self.client.session_update(session_id=request.session_id, update=plan)
            async with turn.tool_call("Read notes.txt", kind="read"):
                pass
        return turn.response

asyncio.run(v2.serve_stdio(as_v2(PlanningAgent)))
"""
INITIALIZE = (
    "c2a",
    {"id": 0, "method": "initialize", "params": {"protocolVersion": 2, "info": {"name": "c", "version": "1"}}},
)
INITIALIZED: dict[str, Any] = {
    "protocolVersion": 2,
    "info": {"name": "a", "version": "1"},
    "capabilities": {},
    "authMethods": [],
}


class IdleClient(v2.Client):
    def __init__(self) -> None:
        self.idle = asyncio.Event()

    async def session_update(self, notification: v2.UpdateSessionNotification) -> None:
        if getattr(notification.update, "state", "") == "idle":
            self.idle.set()

    async def session_request_permission(self, request: v2.RequestPermissionRequest) -> v2.RequestPermissionResponse:
        raise NotImplementedError


async def test_a_tapped_session_of_version_2_is_shown_by_its_rules(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    command = tap_command(tmp_path / "acp.jsonl", sys.executable, str(tmp_path / "agent.py"))
    client = IdleClient()
    async with v2.spawn_agent(lambda _: client, *command) as agent:
        info = v2.Implementation(name="client", version="1")
        await agent.initialize(protocol_version=2, info=info, capabilities=v2.ClientCapabilities())
        session = await agent.session_new(cwd="/work", mcp_servers=[])
        for text in ("hi", "again"):
            client.idle.clear()
            await agent.session_prompt(session_id=session.session_id, prompt=[v2.ContentBlockText(text=text)])
            await client.idle.wait()
    rows = analyse(read_recording(tmp_path / "acp.jsonl"))
    assert not any(row.problems for row in rows)
    turns = [
        [
            ("call", 0, "session/prompt", text, "ok"),
            ("turn", turn, "session/update", text, "end_turn"),
            ("state", turn, "state_update", "state running", ""),
            ("message", turn, "agent", "Let me look.", ""),
            ("state", turn, "plan plan", "1 of 1 completed", ""),
            ("tool", turn, "read", "Read notes.txt", "completed"),
        ]
        for turn, text in ((1, "hi"), (2, "again"))
    ]
    assert [(row.kind, row.turn, row.method, row.title, row.outcome) for row in rows[2:]] == [*turns[0], *turns[1]]


def update(tag: str, **fields: Any) -> tuple[str, Any]:
    params = {"sessionId": "s", "update": {"sessionUpdate": tag, **fields}}
    return "a2c", {"method": "session/update", "params": params}


def state(state: str, **fields: Any) -> tuple[str, Any]:
    return update("state_update", state=state, **fields)


def say(who: str, id: str, text: str) -> tuple[str, Any]:
    return update(f"{who}_message_chunk", messageId=id, content={"type": "text", "text": text})


def analysed(*entries: tuple[Any, Any]) -> list[Row]:
    """Return the rows after `initialize`."""
    started: list[tuple[Any, Any]] = [INITIALIZE, ("a2c", {"id": 0, "result": INITIALIZED}), *entries]
    recording = [
        Recorded(number, direction, None, {"jsonrpc": "2.0", **message}, None)
        for number, (direction, message) in enumerate(started, 1)
    ]
    return analyse(recording)[1:]


def brief(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [(row.kind, row.method, row.title, row.outcome, row.lines) for row in rows]


IDLE = state("idle", stopReason="end_turn")


def test_chunks_of_the_user_begin_one_turn_and_have_its_title() -> None:
    rows = analysed(
        say("user", "m", "He"), say("user", "m", "llo"), say("agent", "n", "Hi"), IDLE, say("user", "o", "Bye")
    )
    assert brief(rows) == [
        ("turn", "session/update", "Hello", "end_turn", [3, 6]),
        ("message", "user", "Hello", "", [4]),
        ("message", "agent", "Hi", "", [5]),
        ("turn", "session/update", "Bye", "no answer", [7]),
    ]
    assert rows[3].problems == [(7, "the turn has no end")]


def test_a_whole_message_replaces_its_chunks() -> None:
    whole = update("agent_message", messageId="n", content=[{"type": "text", "text": "Hello"}])
    rows = analysed(say("user", "m", "hi"), say("agent", "n", "He"), whole, say("agent", "n", "!"), IDLE)
    assert brief(rows)[1] == ("message", "agent", "Hello!", "", [4, 5, 6])


def test_a_tool_call_is_one_row_also_in_later_turns() -> None:
    start = update("tool_call_update", toolCallId="t", title="Read", kind="read")
    content = {"type": "content", "content": {"type": "text", "text": "line"}}
    chunk = update("tool_call_content_chunk", toolCallId="t", content=content)
    end = update("tool_call_update", toolCallId="t", status="completed")
    rows = analysed(say("user", "m", "hi"), start, IDLE, say("user", "n", "hi"), chunk, end, IDLE)
    assert brief(rows)[1] == ("tool", "read", "Read", "completed", [4, 7, 8])
    assert not any(row.problems for row in rows)


def test_plans_are_rows_by_id() -> None:
    def plan(id: str, status: str) -> tuple[str, Any]:
        entries = [{"content": "a", "priority": "low", "status": status}]
        return update("plan_update", plan={"type": "items", "planId": id, "entries": entries})

    rows = analysed(say("user", "m", "hi"), plan("a", "pending"), plan("b", "pending"), plan("a", "completed"), IDLE)
    assert brief(rows)[1:] == [
        ("state", "plan a", "1 of 1 completed", "", [4, 6]),
        ("state", "plan b", "0 of 1 completed", "", [5]),
    ]


@pytest.mark.parametrize(("reason", "problems"), [("cancelled", 0), ("end_turn", 1)])
def test_a_cancelled_turn_has_to_end_as_cancelled(reason: str, problems: int) -> None:
    cancel = ("c2a", {"method": "session/cancel", "params": {"sessionId": "s"}})
    rows = analysed(say("user", "m", "hi"), cancel, state("idle", stopReason=reason))
    assert sum(len(row.problems) for row in rows) == problems


def test_messages_are_checked_against_the_schema_of_version_2() -> None:
    rows = analysed(say("user", "m", "hi"), update("tool_call_update", title="Read"), IDLE)
    ((line, problem),) = rows[1].problems
    assert line == 4
    assert "toolCallId: Field required" in problem


def test_an_agent_that_answers_with_version_1_is_judged_by_it() -> None:
    result = {"protocolVersion": 1}
    messages: list[tuple[Any, Any]] = [INITIALIZE, ("a2c", {"id": 0, "result": result}), say("agent", "m", "hi")]
    recording = [Recorded(n, way, None, {"jsonrpc": "2.0", **m}, None) for n, (way, m) in enumerate(messages, 1)]
    assert [row.problems for row in analyse(recording)][1] == [(3, "agent_message_chunk outside of a turn")]
