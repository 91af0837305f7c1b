"""Random session updates of version 2."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from acp_bindings import v2_draft, v2_draft_unstable
from tests.support.kit.session_updates import BLOCK, IDS, TEXTS, Json, nullable, objects

PROFILES: dict[str, Any] = {"v2_draft": v2_draft, "v2_draft_unstable": v2_draft_unstable}

_meta = {"_meta": nullable(st.dictionaries(st.sampled_from(["a", "b"]), nullable(st.sampled_from([1, {"c": None}]))))}
_blocks = nullable(st.lists(BLOCK, max_size=3))
_base64 = st.sampled_from(["", "AA==", "YWI=", "Yw=="])
_call_content = st.one_of(
    st.builds(lambda block: {"type": "content", "content": block}, BLOCK),
    st.just({"type": "terminal", "terminalId": "1"}),
)
_messages = st.one_of(
    *(objects(kind, {"messageId": IDS}, {"content": _blocks, **_meta}) for kind in ("user_message", "agent_message")),
    objects("agent_thought", {"messageId": IDS}, {"content": _blocks, **_meta}),
    *(
        objects(f"{kind}_chunk", {"messageId": IDS, "content": BLOCK}, {"_meta": st.just({"a": 2})})
        for kind in ("user_message", "agent_message", "agent_thought")
    ),
)
UPDATES: st.SearchStrategy[Json] = st.one_of(
    _messages,
    _messages,
    objects(
        "tool_call_update",
        {"toolCallId": IDS},
        {
            "title": nullable(TEXTS),
            "name": nullable(st.just("tool")),
            "kind": nullable(st.sampled_from(["read", "edit"])),
            "status": nullable(st.sampled_from(["pending", "in_progress", "completed", "failed", "cancelled"])),
            "content": nullable(st.lists(_call_content, max_size=2)),
            "locations": nullable(st.lists(st.just({"path": "/a", "line": 1}), max_size=2)),
            "rawInput": nullable(st.sampled_from([{"a": 1}, [], 0, False])),
            "capabilities": nullable(st.just({"cancel": {}})),
            "own": st.just([1]),
            **_meta,
        },
    ),
    objects("tool_call_content_chunk", {"toolCallId": IDS, "content": _call_content}, {"_meta": st.just({"a": 2})}),
    objects(
        "terminal_update",
        {"terminalId": IDS},
        {
            "command": nullable(st.just("ls")),
            "cwd": nullable(st.just("/work")),
            "output": nullable(st.builds(lambda data: {"data": data}, _base64)),
            "exitStatus": nullable(st.sampled_from([{}, {"exitCode": 1}])),
            **_meta,
        },
    ),
    objects("terminal_output_chunk", {"terminalId": IDS, "data": _base64}, {}),
    objects(
        "plan_update",
        {
            "plan": st.one_of(
                st.builds(lambda id: {"type": "items", "planId": id, "entries": []}, IDS),
                st.builds(lambda id: {"type": "_own", "planId": id, "own": 1}, IDS),
            )
        },
        {},
    ),
    objects(
        "compaction_update",
        {"compactionId": IDS, "status": st.sampled_from(["in_progress", "completed", "cancelled"])},
        {"summary": _blocks, "error": nullable(st.just("e")), **_meta},
    ),
    objects("compaction_summary_chunk", {"compactionId": IDS, "content": BLOCK}, {}),
    objects("config_option_update", {"configOptions": st.just([])}, {}),
    objects(
        "available_commands_update",
        {"availableCommands": st.just([{"type": "command", "name": "a", "description": "b"}])},
        {},
    ),
    objects(
        "session_info_update", {}, {"title": nullable(TEXTS), "updatedAt": nullable(st.just("2026-01-01T00:00:00Z"))}
    ),
    objects(
        "usage_update",
        {"used": st.integers(0, 9), "size": st.just(9)},
        {"cost": nullable(st.just({"amount": 1.5, "currency": "EUR"}))},
    ),
    objects("state_update", {"state": st.sampled_from(["running", "requires_action", "idle", "_own"])}, {}),
    objects("notice", {"severity": st.just("info"), "title": st.just("n")}, {}),
    objects("_own", {}, {"messageId": IDS}),
)
"""Updates of every kind that version 2 has, and of an unknown one, as JSON."""

UNSTABLE_UPDATES: st.SearchStrategy[Json] = st.one_of(
    objects("plan_removed", {"planId": IDS}, {}),
    objects(
        "subagent_update",
        {"sessionId": IDS},
        {
            "title": nullable(TEXTS),
            "state": nullable(st.just({"state": "running"})),
            "cwd": nullable(st.just("/a")),
            **_meta,
        },
    ),
    objects("session_message", {"messageId": IDS}, {"senderSessionId": nullable(IDS), "content": _blocks, **_meta}),
    objects("session_message_chunk", {"messageId": IDS, "content": BLOCK}, {}),
)
"""Updates of the kinds that only the unstable profile of version 2 has."""


def parse(update: Json, profile: Any = v2_draft) -> Any:
    """Return an update of version 2."""
    return profile.UpdateSessionNotification.model_validate({"sessionId": "s", "update": update}).update
