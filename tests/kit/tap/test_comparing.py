"""`show --against`: the first difference between two recordings, by meaning."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from acp_kit.__main__ import main
from acp_kit.recording.file_format import Direction, NotARecordingError, Recorded
from acp_kit.tap.comparing import compare

Messages = list[tuple[Direction, dict[str, Any]]]


def update(tag: str, session: str, **fields: Any) -> tuple[Direction, dict[str, Any]]:
    params = {"sessionId": session, "update": {"sessionUpdate": tag, **fields}}
    return "a2c", {"jsonrpc": "2.0", "method": "session/update", "params": params}


def say(text: str, session: str, **fields: Any) -> tuple[Direction, dict[str, Any]]:
    return update("agent_message_chunk", session, content={"type": "text", "text": text}, **fields)


def recorded(session: str = "s", call: str = "t", id: int = 1, chunks: tuple[str, ...] = ("Hello",)) -> Messages:
    """Return the messages of a turn with a permission request."""
    options = [{"optionId": f"{call}-yes", "name": "Yes", "kind": "allow_once"}]
    ask = {"sessionId": session, "toolCall": {"toolCallId": call}, "options": options}
    outcome = {"outcome": {"outcome": "selected", "optionId": f"{call}-yes"}}
    return [
        ("c2a", {"id": id, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
        ("a2c", {"id": id, "result": {"sessionId": session}}),
        ("c2a", {"id": id + 1, "method": "session/prompt", "params": {"sessionId": session, "prompt": []}}),
        *(say(text, session, messageId=f"m-{call}") for text in chunks),
        update("tool_call", session, toolCallId=call, title="Read", status="pending"),
        ("a2c", {"id": id, "method": "session/request_permission", "params": ask}),
        ("c2a", {"id": id, "result": outcome}),
        update("session_info_update", session, title="A title", updatedAt=f"2026-11-28T10:0{id}:00Z"),
        ("a2c", {"id": id + 1, "result": {"stopReason": "end_turn"}}),
    ]


def lines(messages: Messages, start: float = 0) -> list[Recorded]:
    return [Recorded(n, direction, start + n, message, None) for n, (direction, message) in enumerate(messages, 1)]


def difference(one: Messages, other: Messages) -> list[str]:
    texts = compare(("one", "other"), (lines(one), lines(other, 1000)))
    assert bool(texts) == bool(compare(("other", "one"), (lines(other), lines(one))))
    return texts


def shuffled(value: dict[str, Any]) -> dict[str, Any]:
    """Return JSON with the members of its objects in another order."""
    return json.loads(json.dumps(value), object_pairs_hook=lambda members: dict(reversed(members)))


def test_ids_times_the_order_of_members_and_the_boundaries_of_chunks_do_not_matter() -> None:
    other: Messages = [(way, shuffled(message)) for way, message in recorded("u", "v", 7, ("He", "", "llo"))]
    assert difference(recorded(), other) == []
    assert difference(recorded(), recorded()) == []


def test_halves_of_a_character_in_two_chunks_do_not_matter() -> None:
    assert difference(recorded(chunks=("\U0001f600",)), recorded(chunks=("\ud83d", "\ude00"))) == []


def test_the_output_of_a_terminal_of_version_2_is_compared_whole() -> None:
    def output(*pieces: bytes) -> Messages:
        return [update("terminal_output_chunk", "s", terminalId="t", data=b64encode(p).decode()) for p in pieces]

    assert difference(output(b"ab\xc3", b"\xa9"), output(b"a", b"b\xc3\xa9")) == []
    assert difference(output(b"ab"), output(b"a"))[1] == '  one: text of the chunks is "ab"'


def test_sessions_and_the_order_of_responses_do_not_matter_to_each_other() -> None:
    one, other = recorded("s", "t", 1), recorded("u", "v", 5)
    one_session, other_session = [*one[:2], *other[:2]], [one[2:], other[2:]]
    mixed = [message for pair in zip(*other_session, strict=True) for message in pair]
    assert difference([*one_session, *other_session[0], *other_session[1]], [*one_session, *mixed]) == []


def test_the_first_difference_is_shown_with_both_places() -> None:
    other = recorded("u", chunks=("He", "lp"))
    other[-1][1]["result"]["stopReason"] = "refusal"
    assert difference(recorded(), other) == [
        "first difference: line 4 of one, session/update agent_message_chunk; "
        "line 4 of other, session/update agent_message_chunk",
        '  one: text of the chunks is "Hello"',
        '  other: text of the chunks is "Help"',
    ]


@pytest.mark.parametrize(
    ("place", "changes", "text"),
    [
        (0, {"params": {"cwd": "/x", "mcpServers": []}}, '  other: params.cwd is "/x"'),
        (0, {"params": {"mcpServers": []}}, "  other: params.cwd is missing"),
        (4, {"params": {"update": {}}}, None),
        (6, {"result": {"outcome": {"outcome": "cancelled"}}}, '  other: result.outcome.outcome is "cancelled"'),
        (8, {"result": {"stopReason": "refusal"}}, '  other: result.stopReason is "refusal"'),
        (8, {"error": {"code": 1, "message": "\x1b"}, "result": None}, None),
    ],
)
def test_what_differs_is_found(place: int, changes: dict[str, Any], text: str | None) -> None:
    other = recorded()
    other[place] = (other[place][0], {**other[place][1], **changes})
    texts = difference(recorded(), other)
    assert f"line {place + 1} of" in texts[0] or place in (6,)
    assert text is None or texts[-1] == text
    assert "\x1b" not in "".join(texts)


def test_another_option_of_a_permission_is_a_difference() -> None:
    def chosen(option: str) -> Messages:
        options = [{"optionId": id, "name": id, "kind": "allow_once"} for id in ("a", "b")]
        params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
        outcome = {"outcome": {"outcome": "selected", "optionId": option}}
        return [
            ("a2c", {"id": 1, "method": "session/request_permission", "params": params}),
            ("c2a", {"id": 1, "result": outcome}),
        ]

    assert difference(chosen("a"), chosen("a")) == []
    assert "optionId" in difference(chosen("a"), chosen("b"))[-1]


def test_a_message_that_is_missing_at_the_end() -> None:
    assert difference(recorded(), recorded()[:-1]) == [
        "first difference: line 9 of one, the response to session/prompt: other has no such message there"
    ]


def test_a_message_that_is_nested_too_deeply_is_an_error() -> None:
    deep: Any = None
    for _ in range(5000):
        deep = [deep]
    message: Messages = [("a2c", {"method": "_x", "params": deep})]
    with pytest.raises(NotARecordingError, match="line 1 is nested too deeply"):
        difference(message, message)


def test_true_is_not_1() -> None:
    values: list[Messages] = [[("a2c", {"method": "_x", "params": {"a": [value]}})] for value in (True, 1)]
    assert difference(values[0], values[1])[1] == "  one: params.a[0] is true"


def test_the_command_has_the_exit_code_1_for_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "other.jsonl"]
    for file, text in zip(files, ("a", "b"), strict=True):
        messages = recorded(chunks=(text,))
        file.write_text("".join(json.dumps({"direction": way, "message": message}) + "\n" for way, message in messages))
    assert main(["show", str(files[0]), "--against", str(files[0])]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert main(["show", str(files[0]), "--against", str(files[1])]) == 1
    assert 'other.jsonl: text of the chunks is "b"\n' in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["show", str(files[0]), "--against", str(files[1]), "--errors"])
