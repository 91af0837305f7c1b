"""Session updates: random ones, and those of recorded traffic."""

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


TEXTS = st.sampled_from(["", "a", "b c", "\n", "\u00e9\U0001f600", "\u0000"])
IDS = st.sampled_from(["1", "2", "3"])
BLOCK: st.SearchStrategy[Json] = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"type": "text", "text": text, "annotations": {"priority": 1.0}}, TEXTS),
    st.just({"type": "image", "data": "AA==", "mimeType": "image/png"}),
    st.just({"type": "resource_link", "name": "a", "uri": "file:///a"}),
)


def objects(tag: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"sessionUpdate": st.just(tag), **required}, optional=optional)


def nullable(values: Any) -> Any:
    return st.none() | values


_content = st.lists(st.builds(lambda block: {"type": "content", "content": block}, BLOCK), max_size=2)
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
_chunk = {"messageId": nullable(IDS), "_meta": st.just({"m": 1}), "own": st.just(1)}
_plain_chunk = st.builds(
    lambda tag, text, more: {"sessionUpdate": tag, "content": {"type": "text", "text": text}, **more},
    st.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]),
    TEXTS,
    st.sampled_from([{}, {}, {"messageId": "1"}]),
)
UPDATES = st.one_of(
    _plain_chunk,
    _plain_chunk,
    objects("agent_message_chunk", {"content": BLOCK}, _chunk),
    objects("user_message_chunk", {"content": BLOCK}, _chunk),
    objects("tool_call", {"toolCallId": IDS, "title": TEXTS}, _call),
    objects(
        "tool_call_update",
        {"toolCallId": IDS},
        {key: values if key == "own" else nullable(values) for key, values in _call.items()}
        | {"title": nullable(st.just("t"))},
    ),
    objects("plan", {"entries": st.lists(st.just({"content": "x", "priority": "low", "status": "pending"}))}, {}),
    objects("current_mode_update", {"currentModeId": IDS}, {}),
    objects(
        "config_option_update",
        {"configOptions": st.just([{"type": "boolean", "id": "web", "name": "Web", "currentValue": True}])},
        {},
    ),
    objects("available_commands_update", {"availableCommands": st.just([{"name": "a", "description": "b"}])}, {}),
    objects("usage_update", {"used": st.integers(0, 9), "size": st.just(9)}, {}),
    objects("session_info_update", {}, {"title": nullable(TEXTS), "updatedAt": nullable(st.just("2026-01-01"))}),
    objects("notice", {"severity": st.just("info"), "title": st.just("n")}, {}),
    objects(
        "compaction_update",
        {"compactionId": IDS, "status": st.sampled_from(["in_progress", "completed"])},
        {"summary": nullable(st.lists(BLOCK, max_size=2)), "error": nullable(st.just("e")), "_meta": st.none()},
    ),
    objects("compaction_summary_chunk", {"compactionId": IDS, "content": BLOCK}, {}),
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
