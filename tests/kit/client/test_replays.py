"""A replay into a state that was kept shows nothing twice, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import SessionState
from acp_kit.content import diff
from tests.support.kit.session_updates import text_chunk
from tests.support.kit.shown import state_of

Start = v1.SessionUpdateToolCall
DIFF = diff("/x", "a", "b")


def said(text: str, role: str = "agent") -> Any:
    return text_chunk(text, f"{role}_message")


KEPT = [
    said("first", "user"),
    said("Look. "),
    Start(tool_call_id="1", title="a", content=[DIFF], status="completed"),
    said("Done."),
    said("second", "user"),
    Start(tool_call_id="1", title="b", content=[DIFF], status="in_progress"),
    said("Half"),
]
SHOWN = ["first", "Look. ", "a", "Done.", "second", "b", "Half"]

REPLAYS: dict[str, tuple[list[Any], list[str]]] = {
    "the same": (KEPT, SHOWN),
    "nothing": ([], SHOWN),
    "no tool calls": ([update for update in KEPT if not isinstance(update, Start)], SHOWN),
    "no content": ([*KEPT[:2], Start(tool_call_id="1", title="a", status="completed"), *KEPT[3:]], SHOWN),
    "only the end": (KEPT[4:], SHOWN),
    "more before": ([said("zeroth", "user"), said("Yes."), *KEPT], ["zeroth", "Yes.", *SHOWN]),
    "more after": ([*KEPT[:6], said("Half and the rest")], [*SHOWN[:6], "Half and the rest"]),
}


def replay(state: SessionState, updates: Iterable[Any]) -> None:
    with state.replayed():
        for update in updates:
            state.apply(update)


def shown(state: SessionState) -> list[Any]:
    """Return the titles of tool calls, and the texts of messages."""
    return [getattr(entry, "title", None) or getattr(entry, "text", None) for entry in state.timeline]


@pytest.mark.parametrize("case", REPLAYS)
def test_a_replay_shows_nothing_twice_and_loses_nothing(case: str) -> None:
    replayed, expected = REPLAYS[case]
    state = state_of(KEPT)
    replay(state, replayed)
    assert shown(state) == expected
    assert [entry.content for entry in state.timeline if isinstance(entry, v1.ToolCall)] == [[DIFF], [DIFF]]


def test_a_replay_of_any_part_shows_nothing_twice_and_loses_nothing() -> None:
    kept = [update for number, update in enumerate(KEPT) if number != 6]
    for length in range(len(kept) + 1):
        for part in combinations(kept, length):
            state = state_of(kept)
            before = [*map(type, state.timeline)], shown(state)
            replay(state, part)
            assert ([*map(type, state.timeline)], shown(state)) == before


def test_a_replay_tells_how_a_tool_call_ended() -> None:
    state = state_of(KEPT)
    ends = [
        Start(tool_call_id="1", title="a", status="completed"),
        Start(tool_call_id="1", title="b", status="failed", content=[]),
    ]
    replay(state, ends)
    assert (state.tool_calls["1"].title, state.tool_calls["1"].status) == ("b", "failed")
    assert state.tool_calls["1"].content == [DIFF]


def test_a_replay_has_each_tool_call_whose_id_was_used_in_a_later_turn() -> None:
    updates = [
        said("first", "user"),
        Start(tool_call_id="1", title="a", status="in_progress"),
        said("second", "user"),
        Start(tool_call_id="1", title="b", status="in_progress"),
    ]
    state = state_of(updates)
    replay(state, updates)
    assert state.running_calls == {}
    state.apply(Start(tool_call_id="1", title="c", status="in_progress"))
    assert shown(state) == ["first", "a", "second", "b", "c"]
    assert [call.title for call in state.running_calls.values()] == ["c"]


def test_a_replay_that_fails_changes_nothing() -> None:
    state = state_of(KEPT)
    with pytest.raises(ZeroDivisionError), state.replayed():
        state.apply(said("something else"))
        raise ZeroDivisionError
    assert len(state.timeline) == len(SHOWN)
