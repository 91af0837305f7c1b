"""`SessionState` merges updates into what can be shown."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from acp_bindings import v1, v1_unstable
from acp_kit.client import SessionState
from tests.kit.client.session_fold import fold, without_marks
from tests.support.kit.session_updates import PROFILES, dump, parse, recorded_sessions, text_chunk, updates_of
from tests.support.kit.shown import shown, state_of
from tests.support.scale import count


@pytest.mark.stress
@settings(max_examples=count(60, 5000), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    updates=st.lists(updates_of("v1"), max_size=25),
    profile=st.sampled_from(list(PROFILES.values())),
    every=st.integers(1, 5),
)
def test_the_state_after_any_sequence_equals_a_plain_fold(updates: list[Any], profile: Any, every: int) -> None:
    parsed = [parse(update, profile) for update in updates]
    state, taken = SessionState(), []
    for number, update in enumerate(parsed):
        state.apply(update)
        if number % every == 0:
            taken.append((state.snapshot(), number + 1))
    assert shown(state) == _expected(parsed)
    for snapshot, length in taken:
        assert shown(snapshot) == _expected(parsed[:length]), "a snapshot changed"


def test_the_state_after_recorded_sessions_equals_a_plain_fold() -> None:
    sessions = list(recorded_sessions())
    assert sessions
    for name, updates in sessions:
        state = state_of(updates)
        assert shown(state) == _expected(updates), name


def _expected(updates: list[Any]) -> Any:
    return without_marks(fold(map(dump, updates)))


def test_a_second_start_without_a_title_keeps_the_first_one() -> None:
    start = v1.SessionUpdateToolCall
    state = state_of([start(tool_call_id="1", title="Read a"), start(tool_call_id="1", title="", status="in_progress")])
    assert (state.tool_calls["1"].title, state.tool_calls["1"].status) == ("Read a", "in_progress")


@pytest.mark.parametrize("is_read_between", [True, False])
def test_halves_of_a_character_in_two_chunks_become_the_character(is_read_between: bool) -> None:
    state = SessionState()
    for text, shown_text in [("a\ud83d", "a\ud83d"), ("\ude00b", "a\U0001f600b"), ("\ude00", "a\U0001f600b\ude00")]:
        state.apply(text_chunk(text))
        assert not is_read_between or state.text == shown_text
    assert state.text == state.messages[0].text == "a\U0001f600b\ude00"
    [block] = state.messages[0].content
    assert block == v1.ContentBlockText(text="a\U0001f600b\ude00")


def test_halves_of_a_character_in_the_summary_of_a_compaction_become_the_character() -> None:
    chunk = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "1"}
    texts = ("a\ud83d", "\ude00b")
    state = state_of([parse({**chunk, "content": {"type": "text", "text": text}}, v1_unstable) for text in texts])
    [compaction] = state.timeline
    assert [block.text for block in compaction.summary] == ["a\U0001f600b"]


def test_chunks_of_a_summary_are_one_text_whatever_fields_they_have() -> None:
    chunk = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "1"}
    chunks = [{**chunk, "content": {"type": "text", "text": text}} for text in "abc"]
    chunks[1]["_meta"] = {"x": 1}
    [compaction] = state_of([parse(chunk, v1_unstable) for chunk in chunks]).timeline
    assert [block.text for block in compaction.summary] == ["abc"]


def test_many_chunks_of_a_summary_take_no_longer_each() -> None:
    chunk = parse(
        {
            "sessionUpdate": "compaction_summary_chunk",
            "compactionId": "1",
            "content": {"type": "text", "text": "x" * 40},
        }
    )
    state = SessionState()
    for _ in range(50_000):
        state.apply(chunk)
    [compaction] = state.timeline
    assert [len(block.text) for block in compaction.summary] == [2_000_000]
    state.apply(parse({"sessionUpdate": "compaction_update", "compactionId": "1", "status": "completed"}))
    state.apply(chunk)
    assert [len(block.text) for block in state.timeline[0].summary] == [2_000_040]
    assert [len(block.text) for block in compaction.summary] == [2_000_000]


def test_a_message_that_was_ended_is_not_continued() -> None:
    state = state_of([text_chunk("first turn")])
    state.end_message()
    state.apply(text_chunk("second turn"))
    assert [message.text for message in state.messages] == ["first turn", "second turn"]


def test_an_unknown_update_changes_nothing() -> None:
    state = state_of([text_chunk("a")])
    before = state.snapshot()
    state.apply(v1_unstable.SessionUpdatePlanRemoved(plan_id="1"))
    assert state.snapshot() is before


def test_a_snapshot_shares_unchanged_parts() -> None:
    updates = [v1.SessionUpdateToolCall(tool_call_id=str(number), title="t") for number in range(600)]
    state = state_of(updates)
    before = state.snapshot()
    state.apply(v1.SessionUpdateToolCallUpdate(tool_call_id="300", status="completed"))
    after = state.snapshot()
    assert before.tool_calls["300"].status is None
    assert after.tool_calls["300"].status == "completed"
    assert [a is b for a, b in zip(before.timeline, after.timeline, strict=True)].count(False) == 1


def test_tool_calls_of_a_snapshot_can_be_read_while_the_session_goes_on() -> None:
    state = state_of([v1.SessionUpdateToolCall(tool_call_id="1", title="t")])
    calls = state.tool_calls
    for _ in calls:
        state.apply(v1.SessionUpdateToolCall(tool_call_id="2", title="t"))
    assert list(calls) == ["1"]
    assert (len(calls), "2" in calls, len(state.tool_calls)) == (1, False, 2)


def test_a_tool_call_is_read_without_a_copy_of_the_others() -> None:
    state = state_of([v1.SessionUpdateToolCall(tool_call_id=str(number), title="t") for number in range(5000)])
    state.apply(v1.SessionUpdateToolCallUpdate(tool_call_id="1"))  # now its class has been built
    tracemalloc.start()
    for number in range(10):
        state.apply(v1.SessionUpdateToolCallUpdate(tool_call_id="1", title=str(number)))
        assert state.tool_calls["1"].title == str(number)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50_000, "a dict of 5,000 tool calls has more bytes"


def test_modes_and_options_come_from_the_response_that_opened_the_session() -> None:
    modes = v1.SessionModeState(current_mode_id="ask", available_modes=[v1.SessionMode(id="ask", name="Ask")])
    option = v1.SessionConfigOptionBoolean(id="web", name="Web", current_value=True)
    state = SessionState()
    state.apply_response(v1.NewSessionResponse(session_id="s", modes=modes, config_options=[option]))
    assert (state.current_mode_id, state.available_modes[0].name, state.config_options) == ("ask", "Ask", (option,))
    state.apply_response(v1.LoadSessionResponse())
    assert state.current_mode_id == "ask"


def test_applying_and_reading_take_the_same_calls_however_long_the_session_is() -> None:
    long = state_of(text_chunk(str(number), "agent_thought", message_id=str(number)) for number in range(3000))
    short = SessionState()
    for state in (long, short):
        state.apply(v1.SessionUpdateToolCall(tool_call_id="1", title="t"))
        state.apply(text_chunk("a"))
        state.snapshot()
    assert _calls(lambda: _apply_some(long)) == _calls(lambda: _apply_some(short))


def _apply_some(state: SessionState) -> None:
    for update in (text_chunk("a"), v1.SessionUpdateToolCallUpdate(tool_call_id="1", status="completed")):
        state.apply(update)
        state.snapshot()


def _calls(action: Callable[[], Any]) -> int:
    """Return how many functions an action calls, whether they are written in Python or in C."""
    calls = 0

    def count_calls(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count_calls)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def test_an_unknown_key_that_is_named_like_a_field_of_python_changes_no_field() -> None:
    state = SessionState()
    for update in (
        {"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": 1, "raw_input": 2, "meta": 3},
        {"sessionUpdate": "compaction_update", "compactionId": "1", "status": "in_progress", "meta": 3},
        {"sessionUpdate": "session_info_update", "title": "t", "updated_at": 3},
    ):
        state.apply(v1.SessionNotification.model_validate({"sessionId": "s", "update": update}).update)
    call, compaction = state.timeline
    assert isinstance(call, v1.ToolCall)
    assert isinstance(compaction, v1.CompactionUpdate)
    assert (call.raw_input, call.meta, compaction.meta) == (1, None, None)
    assert (state.title, state.updated_at) == ("t", None)
