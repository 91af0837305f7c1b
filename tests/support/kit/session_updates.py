"""Updates for tests of what reads them: random ones, and those of recorded traffic."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from acp_bindings import v1, v1_unstable

PROFILES: dict[str, Any] = {"v1": v1, "v1_unstable": v1_unstable}

Json = dict[str, Any]


def parse(update: Json, profile: Any = v1) -> Any:
    return profile.SessionNotification.model_validate({"sessionId": "s", "update": update}).update


def dump(model: Any) -> Any:
    return json.loads(model.model_dump_json())


def text_chunk(text: str, role: str = "agent_message", message_id: str | None = None) -> Any:
    more = {} if message_id is None else {"messageId": message_id}
    return parse({"sessionUpdate": f"{role}_chunk", "content": {"type": "text", "text": text}, **more})


_texts = st.sampled_from(["", "a", "b c", "\n", "\u00e9\U0001f600", "\u0000"])
_ids = st.sampled_from(["1", "2", "3"])
_block = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, _texts),
    st.builds(lambda text: {"type": "text", "text": text, "annotations": {"priority": 1.0}}, _texts),
    st.just({"type": "image", "data": "AA==", "mimeType": "image/png"}),
    st.just({"type": "resource_link", "name": "a", "uri": "file:///a"}),
)


def _objects(tag: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"sessionUpdate": st.just(tag), **required}, optional=optional)


def _nullable(values: Any) -> Any:
    return st.none() | values


_content = st.lists(st.builds(lambda block: {"type": "content", "content": block}, _block), max_size=2)
_call = {
    "kind": st.sampled_from(["read", "edit"]),
    "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
    "content": _content,
    "locations": st.lists(st.just({"path": "/a", "line": 1}), max_size=2),
    "rawInput": st.sampled_from([{"a": 1}, [], 0, False]),
    "rawOutput": st.sampled_from([{"b": None}, "out"]),
    "name": st.just("tool"),
    "_meta": st.just({"m": 1}),
    "own": st.just([1]),
}
_chunk = {"messageId": _nullable(_ids), "_meta": st.just({"m": 1}), "own": st.just(1)}
_plain_chunk = st.builds(
    lambda tag, text, more: {"sessionUpdate": tag, "content": {"type": "text", "text": text}, **more},
    st.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]),
    _texts,
    st.sampled_from([{}, {}, {"messageId": "1"}]),
)
UPDATES = st.one_of(
    _plain_chunk,
    _plain_chunk,
    _objects("agent_message_chunk", {"content": _block}, _chunk),
    _objects("user_message_chunk", {"content": _block}, _chunk),
    _objects("tool_call", {"toolCallId": _ids, "title": _texts}, _call),
    _objects(
        "tool_call_update",
        {"toolCallId": _ids},
        {key: values if key == "own" else _nullable(values) for key, values in _call.items()}
        | {"title": _nullable(st.just("t"))},
    ),
    _objects("plan", {"entries": st.lists(st.just({"content": "x", "priority": "low", "status": "pending"}))}, {}),
    _objects("current_mode_update", {"currentModeId": _ids}, {}),
    _objects("available_commands_update", {"availableCommands": st.just([{"name": "a", "description": "b"}])}, {}),
    _objects("usage_update", {"used": st.integers(0, 9), "size": st.just(9)}, {}),
    _objects("session_info_update", {}, {"title": _nullable(_texts), "updatedAt": _nullable(st.just("2026-01-01"))}),
    _objects("notice", {"severity": st.just("info"), "title": st.just("n")}, {}),
    _objects(
        "compaction_update",
        {"compactionId": _ids, "status": st.sampled_from(["in_progress", "completed"])},
        {"summary": _nullable(st.lists(_block, max_size=2)), "error": _nullable(st.just("e")), "_meta": st.none()},
    ),
    _objects("compaction_summary_chunk", {"compactionId": _ids, "content": _block}, {}),
)
"""Updates of every kind that version 1 has, as JSON."""


def recorded_sessions() -> Iterator[tuple[str, list[Any]]]:
    """Yield the updates of each session in the recordings. Skip the test if there are none."""
    folder = os.environ.get("ACP_RECORDINGS")
    if folder is None:
        pytest.skip("ACP_RECORDINGS names no folder with recorded traffic.")
    for file in sorted(Path(folder).glob("*.jsonl")):
        sessions: dict[str, list[Any]] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)["msg"]
            if message.get("method") == "session/update":
                params = v1.SessionNotification.model_validate(message["params"])
                sessions.setdefault(params.session_id, []).append(params.update)
        yield from ((f"{file.stem} {session_id}", updates) for session_id, updates in sessions.items())
