"""A recording is analysed into calls with answers, merged updates, and mistakes."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from acp_kit.recording.file_format import Direction, Recorded
from acp_kit.tap import analysis
from acp_kit.tap.analysis import analyse
from acp_kit.tap.row import Row

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
END = {"stopReason": "end_turn"}


def sent(direction: Direction, **members: Any) -> tuple[Direction, dict[str, Any]]:
    return direction, {"jsonrpc": "2.0", **members}


def ask(id: int, method: str, params: Any, direction: Direction = "c2a") -> tuple[Direction, Any]:
    return sent(direction, id=id, method=method, params=params)


def answer(id: int, result: Any, direction: Direction = "a2c") -> tuple[Direction, Any]:
    return sent(direction, id=id, result=result)


def update(tag: str, session: str = "s", **fields: Any) -> tuple[Direction, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": tag, **fields}}
    return sent("a2c", method="session/update", params=params)


def say(text: str, session: str = "s") -> tuple[Direction, Any]:
    return update("agent_message_chunk", session, content={"type": "text", "text": text})


def tool(id: str, tag: str = "tool_call", **fields: Any) -> tuple[Direction, Any]:
    return update(tag, toolCallId=id, **({"title": f"Do {id}"} if tag == "tool_call" else {}), **fields)


def turn(*inside: tuple[Direction, Any], id: int = 1, result: Any = END) -> list[tuple[Direction, Any]]:
    return [ask(id, "session/prompt", PROMPT), *inside, answer(id, result)]


def analysed(*entries: tuple[Direction, Any]) -> list[Row]:
    """Analyse a recording with a line a second."""
    recording: list[Recorded] = []
    for number, (direction, value) in enumerate(entries, 1):
        message, line = (None, value) if isinstance(value, str) else (value, None)
        recording.append(Recorded(number, direction, float(number), message, line))
    return analyse(recording)


def brief(row: Row) -> tuple[Any, ...]:
    return row.kind, row.method, row.title, row.outcome, row.lines


def test_calls_are_joined_with_their_answers_and_updates_are_merged() -> None:
    start = tool("t", kind="edit", status="in_progress")
    ended = tool("t", "tool_call_update", status="completed")
    rows = analysed(*turn(say("He"), say("llo"), start, say("done"), ended))
    assert [brief(row) for row in rows] == [
        ("turn", "session/prompt", "hi", "end_turn", [1, 7]),
        ("message", "agent", "Hello", "", [2, 3]),
        ("tool", "edit", "Do t", "completed", [4, 6]),
        ("message", "agent", "done", "", [5]),
    ]
    assert [(row.start, row.end, row.turn, row.session) for row in rows[:2]] == [(1, 7, 1, "s"), (2, 3, 1, "s")]
    assert not any(row.problems for row in rows)


def test_updates_that_set_values_are_one_row_in_each_turn() -> None:
    entries = [[{"content": "a", "priority": "low", "status": status}] for status in ("pending", "completed")]
    plans = [update("plan", entries=entry) for entry in entries]
    rows = analysed(*turn(plans[0], say("a"), plans[1]), *turn(plans[1], id=2))
    results = [brief(row) for row in rows if row.kind == "state"]
    assert results == [
        ("state", "plan", "1 of 1 completed", "", [2, 4]),
        ("state", "plan", "1 of 1 completed", "", [7]),
    ]


def test_a_permission_names_its_tool_call_and_the_chosen_kind() -> None:
    options = [{"optionId": "1", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
    chosen = answer(7, {"outcome": {"outcome": "selected", "optionId": "1"}}, "c2a")
    ended = tool("t", "tool_call_update", status="completed")
    rows = analysed(*turn(tool("t"), ask(7, "session/request_permission", params, "a2c"), chosen, ended))
    assert brief(rows[2]) == ("call", "session/request_permission", "Do t", "allow_once", [3, 4])
    phantom = analysed(*turn(ask(7, "session/request_permission", params, "a2c"), chosen))
    assert [row.kind for row in phantom] == ["turn", "call"]


def test_a_compaction_is_one_row() -> None:
    start = update("compaction_update", compactionId="c", status="in_progress")
    rows = analysed(*turn(start, update("compaction_update", compactionId="c", status="completed")))
    assert brief(rows[1]) == ("tool", "compaction", "", "completed", [2, 3])


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_replay_is_no_turn_and_its_ids_are_not_used_again(method: str) -> None:
    call = tool("t", status="completed")
    load = ask(2, method, {"sessionId": "s", "cwd": "/", "mcpServers": []})
    rows = analysed(*turn(call), load, say("a"), call, answer(2, {}))
    assert [row.is_replay for row in rows] == [False, False, False, True, True]
    assert [row.title for row in rows[1:]] == ["Do t", "/", "a", "Do t"]
    assert not any(row.problems for row in rows)


ENDED = tool("t", status="completed")
RUNS = tool("t", status="in_progress")
MODE = update("current_mode_update", currentModeId="m")
CANCEL = sent("c2a", method="session/cancel", params={"sessionId": "s"})
OPENED = [ask(1, "session/new", NEW), answer(1, {"sessionId": "s"})]
FORK = ask(1, "session/fork", {"sessionId": "s", "cwd": "/"})
FORKED = "Method not found (-32601, rule 11, v1_unstable accepts it)"
OUTSIDE = "agent_message_chunk outside of a turn"
NOTHING = "an answer to no request, or to a line that could not be read (rule 8)"
INITIALIZE = [ask(0, "initialize", {"protocolVersion": 1}), answer(0, {"protocolVersion": 1})]
NULL = sent("a2c", id=None, error={"code": -32700, "message": "Parse error"})
PROBLEMS: dict[str, tuple[list[Any], list[tuple[int, str]]]] = {
    "a field of params": (
        [ask(1, "session/new", {"cwd": 5, "mcpServers": []}), OPENED[1]],
        [(1, "cwd: Input should be a valid string (-32602, rule 12)")],
    ),
    "a field of a result": ([OPENED[0], answer(1, {})], [(2, "sessionId: Field required (rule 9)")]),
    "an update": ([update("_acme")], [(1, "update: Input should have one of the expected tags (rule 12)")]),
    "no JSON": (
        [("a2c", "Loading...")],
        [(1, "10 bytes that are not JSON (expected value at byte 1): Loading... (-32700, rule 3)")],
    ),
    "no message": (
        [("a2c", "[]")],
        [(1, "2 bytes of JSON that are not a message: it is not an object (-32600, rule 4)")],
    ),
    "a draft": ([FORK, answer(1, {"sessionId": "t"})], [(1, FORKED)]),
    "no method": ([ask(1, "session/gone", {}), answer(1, {})], [(1, "Method not found (-32601, rule 11)")]),
    "outside of a turn": ([MODE, say("a"), *turn(say("b")), say("c"), say("d"), MODE], [(2, OUTSIDE), (6, OUTSIDE)]),
    "a fork replays under its new id": (
        [FORK, say("a", "t"), answer(1, {"sessionId": "t"}), say("b", "t")],
        [(1, FORKED), (4, OUTSIDE)],
    ),
    "an id of a tool call again": (turn(ENDED, ENDED), [(3, "the id t is used again, after the tool call of line 2")]),
    "a tool call starts twice": (turn(RUNS, ENDED), []),
    "a tool call never started": (
        turn(tool("t", "tool_call_update", status="completed")),
        [(2, "a tool_call_update, but no tool call has the id t")],
    ),
    "a tool call never ended": (turn(RUNS), [(3, "the turn ends, and the tool call of line 2 is in_progress")]),
    "an id of a request again": (
        [OPENED[0], *OPENED],
        [(1, "session/new has no answer"), (2, "the id 1 is used again before line 1 is answered (rule 8)")],
    ),
    "an id of an answered request": ([*OPENED, *OPENED], []),
    "answers to nothing": (
        [*turn(), answer(1, END), answer(5, {}), NULL],
        [(3, "another answer to line 1 (rule 8)"), (4, NOTHING), (5, NOTHING)],
    ),
    "a cancelled turn": (turn(RUNS, CANCEL, result={"stopReason": "cancelled"}), []),
    "a cancelled turn that goes on": (turn(CANCEL), [(3, "cancelled by line 2, but the answer is end_turn")]),
    "two turns": (
        [*turn()[:1], *turn(id=2)],
        [(1, "session/prompt has no answer"), (2, "the turn of line 1 still runs")],
    ),
    "two connections": ([INITIALIZE[0], *INITIALIZE], [(1, "initialize has no answer")]),
    "an agent that failed": (
        [("stderr", "Traceback"), ("stderr", "acp-bindings tap: the agent exited with 1")],
        [(2, "the agent exited with 1")],
    ),
}


@pytest.mark.parametrize(("entries", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_breaks_the_protocol_is_a_problem_of_its_line(
    entries: list[tuple[Direction, Any]], expected: list[tuple[int, str]]
) -> None:
    assert [problem for row in analysed(*entries) for problem in row.problems] == expected


def test_the_work_of_a_line_does_not_grow_with_the_session() -> None:
    def steps(turns: int) -> int:
        """Return how many lines of the analysis run for the last of so many turns."""
        analyser = analysis._Analyser()  # pyright: ignore[reportPrivateUsage]
        entries = [entry for id in range(turns) for entry in turn(tool(f"{id}", status="completed"), id=id)]
        recording = [Recorded(number, way, None, message, None) for number, (way, message) in enumerate(entries, 1)]
        for recorded in recording[:-3]:
            analyser.add(recorded)
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        earlier = sys.gettrace()
        sys.settrace(trace)
        try:
            for recorded in recording[-3:]:
                analyser.add(recorded)
        finally:
            sys.settrace(earlier)
        return count

    steps(2)  # imports, and builds validators
    assert steps(100) < steps(5) + 20
