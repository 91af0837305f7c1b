"""`SessionState` of version 2 merges updates into what can be shown."""

from __future__ import annotations

import binascii
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from acp_bindings import v1, v2_draft as v2, v2_draft_unstable
from acp_bindings.v2_draft.updates import UPDATES as KINDS
from acp_bindings.v2_draft_unstable.updates import UPDATES as UNSTABLE_KINDS
from acp_kit.v2 import Message, SessionState, SessionTerminal, Snapshot
from tests.support.kit.session_fold_v2 import fold
from tests.support.kit.session_updates import PROFILES_V2, dump, parse as parse_update, updates_of
from tests.support.scale import count

Json = dict[str, Any]


def parse(update: Json, profile: Any = v2) -> Any:
    return parse_update(update, profile)


def shown(state: SessionState | Snapshot) -> Json:
    """Return what a state shows, in the form of `session_fold_v2`."""
    by_id = {
        "messages": {f"{message.role} {message.message_id}": _message(message) for message in state.messages},
        "calls": {id: _dump(call) for id, call in state.tool_calls.items()},
        "compactions": {
            entry.compaction_id: _dump(entry) for entry in state.timeline if hasattr(entry, "compaction_id")
        },
        "terminals": {id: _terminal(terminal) for id, terminal in state.terminals.items()},
        "plans": {id: dump(plan) for id, plan in state.plans.items()},
        "session_message": {id: _dump(message) for id, message in state.others.get("session_message", {}).items()},
        "subagent": {id: _dump(subagent) for id, subagent in state.others.get("subagent", {}).items()},
    }
    return by_id | {
        "order": [_id(entry) for entry in state.timeline],
        "state": state.state and _dump(state.state),
        "notices": [_dump(notice) for notice in state.notices],
        "configOptions": [dump(option) for option in state.config_options],
        "availableCommands": [dump(command) for command in state.available_commands],
        "usage": state.usage and {key: value for key, value in _dump(state.usage).items() if value is not None},
        "title": state.title,
        "updatedAt": state.updated_at,
    }


def _message(message: Message) -> Json:
    content = [dump(block) for block in message.content]
    meta = {} if message.meta is None else {"_meta": message.meta}
    return {"role": message.role, "messageId": message.message_id, "content": content, **meta}


def _terminal(terminal: SessionTerminal) -> Json:
    names = {
        "terminalId": "terminal_id",
        "command": "command",
        "cwd": "cwd",
        "exitStatus": "exit_status",
        "size": "size",
        "capabilities": "capabilities",
        "_meta": "meta",
    }
    values = {key: getattr(terminal, name) for key, name in names.items()}
    output = {"output": b64encode(terminal.output).decode()} if terminal.output else {}
    shown = {
        key: value if isinstance(value, str | dict) else dump(value)
        for key, value in values.items()
        if value is not None
    }
    return shown | output


def _id(entry: Any) -> str:
    if isinstance(entry, Message):
        return f"{entry.role} {entry.message_id}"
    return str(getattr(entry, "tool_call_id", "") or entry.compaction_id)


def _dump(model: Any) -> Json:
    return {key: value for key, value in dump(model).items() if key != "sessionUpdate"}


def _expected(updates: list[Json]) -> Json:
    expected = fold(updates)
    for terminal in expected["terminals"].values():
        if not terminal.get("output", "-"):
            del terminal["output"]
    expected["usage"] = expected["usage"] or None
    return expected


def state_of(*updates: Any) -> SessionState:
    """Return a state after updates."""
    state = SessionState()
    for update in updates:
        state.apply(parse(update) if isinstance(update, dict) else update)
    return state


def chunk(text: str, id: str = "1", kind: str = "agent_message_chunk") -> Json:
    return {"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}}


@pytest.mark.stress
@settings(max_examples=count(80, 5000), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    updates=st.lists(updates_of("v2_draft"), max_size=25),
    profile=st.sampled_from(list(PROFILES_V2.values())),
    every=st.integers(1, 5),
)
def test_the_state_after_any_sequence_equals_a_plain_fold(updates: list[Json], profile: Any, every: int) -> None:
    state, taken = SessionState(), []
    for number, update in enumerate(updates, 1):
        state.apply(parse(update, profile))
        if number % every == 0:
            taken.append((state.snapshot(), number))
    assert shown(state) == _expected(updates)
    for snapshot, length in taken:
        assert shown(snapshot) == _expected(updates[:length]), "a snapshot changed"


@pytest.mark.stress
@settings(max_examples=count(40, 2000), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(updates=st.lists(updates_of("v2_draft_unstable"), max_size=25))
def test_the_state_after_any_sequence_of_unstable_updates_equals_a_plain_fold(updates: list[Json]) -> None:
    state = state_of(*(parse(update, v2_draft_unstable) for update in updates))
    assert shown(state) == _expected(updates)


def test_a_message_goes_on_where_it_began() -> None:
    state = state_of(chunk("a"), chunk("x", "2"), chunk("b"), chunk("t", kind="agent_thought_chunk"))
    assert [(message.role, message.text) for message in state.messages] == [
        ("agent", "ab"),
        ("agent", "x"),
        ("thought", "t"),
    ]
    assert state.text == "abx"


def test_a_whole_message_replaces_the_chunks_before_it_and_later_ones_are_appended() -> None:
    whole = {"sessionUpdate": "agent_message", "messageId": "1", "content": [{"type": "text", "text": "new"}]}
    assert state_of(chunk("old"), whole, chunk("er")).text == "newer"
    assert state_of(chunk("old"), {**whole, "content": None}, chunk("er")).text == "er"
    assert state_of(chunk("old"), {"sessionUpdate": "agent_message", "messageId": "1"}).text == "old"


def test_halves_of_a_character_in_two_chunks_become_the_character() -> None:
    assert state_of(chunk("a\ud83d"), chunk("\ude00b")).text == "a\U0001f600b"


def test_unknown_types_of_content_are_not_merged_with_text() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "_b", "text": "b"}, {"type": "_c", "text": 1}]
    state = SessionState()
    for block in blocks:
        state.apply(parse({"sessionUpdate": "agent_message_chunk", "messageId": "1", "content": block}))
        state.apply(parse({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": block}))
    assert [dump(block) for block in state.messages[0].content] == blocks
    assert [dump(block) for block in state.tool_calls["t"].content] == blocks


def test_a_cleared_field_has_the_value_of_a_new_tool_call() -> None:
    call: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "1"}
    state = state_of(
        {**call, "kind": "read", "status": "completed", "title": "Read"}, {**call, "kind": None, "status": None}
    )
    assert (state.tool_calls["1"].kind, state.tool_calls["1"].status) == ("other", "pending")
    assert state.tool_calls["1"].title == "Read"


def test_the_output_of_a_terminal_is_bytes_that_chunks_extend_and_snapshots_replace() -> None:
    def data(text: bytes) -> str:
        return b64encode(text).decode()

    def output(text: bytes) -> Json:
        return {"sessionUpdate": "terminal_output_chunk", "terminalId": "1", "data": data(text)}

    update: Json = {"sessionUpdate": "terminal_update", "terminalId": "1"}
    state = state_of(output(b"\xe2\x82"), output(b"\xac"))
    assert state.terminals["1"].output.decode() == "\u20ac"
    state.apply(parse({**update, "output": {"data": data(b"new ")}, "exitStatus": {"exitCode": 0}}))
    state.apply(parse(output(b"er")))
    assert state.terminals["1"].output == b"new er"
    assert state.terminals["1"].exit_status == v2.TerminalExitStatus(exit_code=0)


@pytest.mark.parametrize("data", ["A", "AA", "AA==AA==", "_w==", "!!!!"])
def test_output_that_is_not_base64_is_refused_and_changes_nothing(data: str) -> None:
    def output(data: str) -> Json:
        return {"sessionUpdate": "terminal_output_chunk", "terminalId": "1", "data": data}

    state = state_of(output("YWI="))
    with pytest.raises(binascii.Error):
        state.apply(parse(output(data)))
    with pytest.raises(binascii.Error):
        update = {"sessionUpdate": "terminal_update", "terminalId": "1", "command": "ls", "output": {"data": data}}
        state.apply(parse(update))
    assert (state.terminals["1"].output, state.terminals["1"].command) == (b"ab", None)


def test_unfinished_tool_calls_are_shown_as_cancelled_when_the_client_cancels() -> None:
    def call(id: str, status: str) -> Json:
        return {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}

    state = state_of(call("1", "in_progress"), call("2", "completed"))
    before = state.snapshot()
    state.stop_calls()
    state.apply(parse(call("3", "in_progress")))
    assert [state.status_of(call) for call in state.tool_calls.values()] == ["cancelled", "completed", "in_progress"]
    assert [before.status_of(call) for call in before.tool_calls.values()] == ["in_progress", "completed"]
    state.apply(parse(call("1", "failed")))
    assert state.status_of(state.tool_calls["1"]) == "failed"


def test_the_tool_call_of_a_permission_request_is_an_update() -> None:
    state = SessionState()
    state.apply(v2.ToolCallUpdate(tool_call_id="1", title="Delete a"))
    assert state.tool_calls["1"] == v2.SessionUpdateToolCallUpdate(
        tool_call_id="1", title="Delete a", kind="other", status="pending", content=[]
    )


def test_the_state_is_the_one_that_the_agent_has_sent_last() -> None:
    state = SessionState()
    assert state.is_idle
    state.apply(v2.SessionUpdateStateUpdateRunning())
    assert not state.is_idle
    state.apply(v2.SessionUpdateStateUpdateIdleCancelled())
    assert state.is_idle
    assert state.state == v2.SessionUpdateStateUpdateIdleCancelled()


def test_an_update_replaces_the_plan_with_its_id() -> None:
    def plan(id: str, *texts: str) -> Json:
        entries = [{"content": text, "priority": "low", "status": "pending"} for text in texts]
        return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": id, "entries": entries}}

    state = state_of(plan("1", "a", "b"), plan("2", "c"), plan("1", "d"))
    assert [(id, dump(shown)) for id, shown in state.plans.items()] == [
        ("1", plan("1", "d")["plan"]),
        ("2", plan("2", "c")["plan"]),
    ]


def test_entries_that_did_not_change_are_the_same_objects() -> None:
    state = state_of(chunk("a"), chunk("b", "2"))
    before = state.snapshot()
    assert state.snapshot() is before
    state.apply(parse(chunk("c", "2")))
    assert state.timeline[0] is before.timeline[0]
    assert state.timeline[1] is not before.timeline[1]


@pytest.mark.parametrize("kind", sorted(UNSTABLE_KINDS.keys() - KINDS.keys()))
def test_an_unstable_update_is_unknown_to_the_stable_profile_and_ignored(kind: str) -> None:
    update = parse({"sessionUpdate": kind, "planId": "1", "messageId": "1", "sessionId": "1"})
    assert isinstance(update, v2.SessionUpdateOther)
    state = state_of(chunk("a"))
    before = state.snapshot()
    state.apply(update)
    assert state.snapshot() is before


def test_an_update_of_version_1_is_refused() -> None:
    with pytest.raises(TypeError, match="is for version 2, but"):
        SessionState().apply(v1.SessionUpdatePlan(entries=[]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [lambda n: chunk("x"), lambda n: {"sessionUpdate": "terminal_output_chunk", "terminalId": "1", "data": "eHg="}],
)
def test_many_chunks_take_no_longer_each(make: Callable[[int], Json]) -> None:
    update = parse(make(0))
    state = SessionState()
    for _ in range(50_000):
        state.apply(update)
    assert len(state.text) + sum(len(terminal.output) for terminal in state.terminals.values()) in (50_000, 100_000)


@pytest.mark.parametrize("profile", PROFILES_V2.values(), ids=PROFILES_V2)
def test_a_terminal_shows_each_field_of_its_update(profile: Any) -> None:
    fields = {*profile.TerminalUpdate.model_fields}
    assert fields == {*SessionTerminal.__dataclass_fields__}


@pytest.mark.parametrize("profile", PROFILES_V2)
def test_what_updates_set_and_change_can_be_read(profile: str) -> None:
    from importlib import import_module

    from acp_runtime.updates import AddsTo, Changes, Sets

    effects = import_module(f"acp_bindings.{profile}.updates").UPDATES.values()
    names = [name for effect in effects if isinstance(effect, Sets) for name in effect.fields]
    names += [effect.name for effect in effects if isinstance(effect, AddsTo)]
    assert [name for name in names if not hasattr(SessionState(), name)] == []
    things = {effect.thing for effect in effects if isinstance(effect, Changes)}
    named = {"tool_call", "terminal", "plan", "compaction"}
    assert things == named if profile == "v2_draft" else things > named
