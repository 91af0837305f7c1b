"""Secrets that are streamed in pieces."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from copy import deepcopy
from typing import Any

import pytest

from acp_kit.recording.file_format import Direction, Recorded
from acp_kit.recording.streamed_secrets import redact_recording

KEY = "sk-ant-api03-q7Wm2Zr9Xc4Vb8Nk1Lp5Tj3Hd6"
TEXT = f"é the key\n{KEY} is\nsecret"
PRIVATE_KEY = ["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] * 3, "-----END PRIVATE KEY-----"]


def recorded(*messages: Any, direction: Direction = "a2c") -> list[Recorded]:
    return [Recorded(number, direction, None, message, None) for number, message in enumerate(messages, 1)]


def update(tag: str, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": "s", "update": {"sessionUpdate": tag, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(text: str, session: str = "s") -> dict[str, Any]:
    message = update("agent_message_chunk", content={"type": "text", "text": text})
    message["params"]["sessionId"] = session
    return message


def texts(recording: list[Recorded]) -> list[str]:
    return [entry.message["params"]["update"]["content"]["text"] for entry in redact_recording(recording)]


@pytest.mark.parametrize("size", [1, 3, 10, 30, 100])
def test_a_key_in_chunks_of_a_message_is_removed_from_them(size: int) -> None:
    pieces = [TEXT[start : start + size] for start in range(0, len(TEXT), size)]
    recording = recorded(*map(chunk, pieces))
    before = deepcopy(recording)
    assert "".join(texts(recording)) == TEXT.replace(KEY, "[redacted]")
    assert recording == before


def test_chunks_of_other_sessions_between_them_do_not_matter() -> None:
    recording = recorded(chunk(KEY[:9]), chunk("Hello, ", "t"), chunk(KEY[9:]), chunk("world", "t"))
    assert texts(recording) == ["[redacted]", "Hello, ", "", "world"]


@pytest.mark.parametrize("outputs", [[TEXT[:20], TEXT[:30], TEXT], [TEXT[:20], TEXT[20:]]])
def test_a_key_in_a_growing_output_of_a_terminal_is_removed(outputs: list[str]) -> None:
    ask = {"jsonrpc": "2.0", "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "t"}}
    recording: list[Recorded] = []
    for id, output in enumerate(outputs):
        recording += recorded({**ask, "id": id})
        recording += recorded({"jsonrpc": "2.0", "id": id, "result": {"output": output}}, direction="c2a")
    left = [entry.message["result"]["output"] for entry in redact_recording(recording) if entry.direction == "c2a"]
    assert all(part not in output for output in left for part in (KEY[:8], KEY[-8:]))
    assert left[0] == "é the key\n[redacted]"
    assert left[-1].endswith(" is\nsecret")


def test_a_key_in_the_output_of_a_terminal_of_version_2_is_removed() -> None:
    data = TEXT.encode()
    pieces = [data[:1], data[1:20], data[20:]]
    chunks = [update("terminal_output_chunk", terminalId="t", data=b64encode(piece).decode()) for piece in pieces]
    redacted = redact_recording(recorded(*chunks))
    left = b"".join(b64decode(entry.message["params"]["update"]["data"]) for entry in redacted)
    assert left.decode() == TEXT.replace(KEY, "[redacted]")


def test_a_private_key_in_lines_of_stderr() -> None:
    lines = ["before", *PRIVATE_KEY, "after"]
    recording = [Recorded(number, "stderr", None, None, line) for number, line in enumerate(lines, 1)]
    left = [entry.line for entry in redact_recording(recording)]
    assert left == ["before", "[redacted]", "", "", "", "", "after"]


def test_a_text_that_begins_in_an_escape_stays_json() -> None:
    text = f"\npm_{'a1' * 18} \rk_live_{'a1' * 18} \basic {'a1' * 18}"
    (left,) = texts(recorded(chunk(text)))
    assert left.startswith("\n")
    json.dumps(left)


@pytest.mark.parametrize("text", ["a", "=", "sk-", "\ud83d", "\\", '"'])
def test_many_pieces_take_little_time(text: str) -> None:
    assert len(texts(recorded(*map(chunk, [text] * 3_000)))) == 3_000
