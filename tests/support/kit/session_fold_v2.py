"""What a session of version 2 shows, computed from the JSON of its updates in the plainest way.

The reference for `acp_kit.v2.SessionState`, written from the descriptions in the schema.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

Json = dict[str, Any]

MESSAGES = {
    "user_message": ("user", False),
    "user_message_chunk": ("user", True),
    "agent_message": ("agent", False),
    "agent_message_chunk": ("agent", True),
    "agent_thought": ("thought", False),
    "agent_thought_chunk": ("thought", True),
}
# The name of the list of things, the property with the id, the values of a new one, the property that chunks extend.
THINGS: dict[str, tuple[str, str, Json, str]] = {
    "tool_call_update": ("calls", "toolCallId", {"kind": "other", "status": "pending", "content": []}, ""),
    "tool_call_content_chunk": (
        "calls",
        "toolCallId",
        {"kind": "other", "status": "pending", "content": []},
        "content",
    ),
    "compaction_update": ("compactions", "compactionId", {"status": "in_progress", "summary": []}, ""),
    "compaction_summary_chunk": ("compactions", "compactionId", {"status": "in_progress", "summary": []}, "summary"),
    "session_message": ("session_message", "messageId", {"content": []}, ""),
    "session_message_chunk": ("session_message", "messageId", {"content": []}, "content"),
    "subagent_update": ("subagent", "sessionId", {}, ""),
}
WHOLE = {"config_option_update": "configOptions", "available_commands_update": "availableCommands"}


def fold(updates: Iterable[Json]) -> Json:
    """Return what a session shows after these updates, as JSON."""
    shown: Json = {name: {} for name in ("messages", "calls", "compactions", "terminals", "plans")}
    shown |= {"session_message": {}, "subagent": {}, "order": [], "state": None, "notices": []}
    shown |= {"configOptions": [], "availableCommands": [], "usage": None, "title": None, "updatedAt": None}
    for update in updates:
        _fold(shown, update)
    for messages in (shown["messages"], shown["session_message"]):
        for message in messages.values():
            message["content"] = _joined(message["content"])
    for compaction in shown["compactions"].values():
        compaction["summary"] = _joined(compaction["summary"])
    return shown


def _fold(shown: Json, update: Json) -> None:
    kind = update["sessionUpdate"]
    fields = {key: value for key, value in update.items() if key != "sessionUpdate"}
    if kind in MESSAGES:
        _fold_message(shown, kind, fields)
    elif kind in THINGS:
        _fold_thing(shown, kind, fields)
    elif kind.startswith("terminal_"):
        _fold_terminal(shown, kind, fields)
    elif kind == "plan_update":
        shown["plans"][update["plan"]["planId"]] = update["plan"]
    elif kind == "plan_removed":
        shown["plans"].pop(update["planId"], None)
    elif kind == "notice":
        shown["notices"].append(fields)
    else:
        _fold_values(shown, kind, fields)


def _fold_values(shown: Json, kind: str, fields: Json) -> None:
    if kind in WHOLE:
        shown[WHOLE[kind]] = fields[WHOLE[kind]]
    elif kind == "usage_update":
        shown["usage"] = shown["usage"] or {}
        meta = fields.get("_meta")
        _patch(shown["usage"], fields, {})
        shown["usage"] |= {"_meta": meta} if meta is not None else {}  # it isn't patched key by key
    elif kind == "session_info_update":
        shown["title"] = fields.get("title", shown["title"])
        shown["updatedAt"] = fields.get("updatedAt", shown["updatedAt"])
    elif kind == "state_update":
        shown["state"] = fields


def _fold_message(shown: Json, kind: str, fields: Json) -> None:
    role, is_chunk = MESSAGES[kind]
    key = f"{role} {fields['messageId']}"
    if key not in shown["messages"]:
        shown["order"].append(key)
    message = shown["messages"].setdefault(key, {"role": role, "messageId": fields["messageId"], "content": []})
    if is_chunk:
        _chunk(message["content"], fields["content"])
    else:
        _patch(message, fields, {"content": []})


def _fold_thing(shown: Json, kind: str, fields: Json) -> None:
    name, id, new, extended = THINGS[kind]
    if fields[id] not in shown[name] and name in ("calls", "compactions"):
        shown["order"].append(fields[id])
    thing = shown[name].setdefault(fields[id], {id: fields[id], **deepcopy(new)})
    if kind == "tool_call_content_chunk":
        thing["content"].append(fields["content"])
    elif extended:
        _chunk(thing[extended], fields["content"])
    else:
        _patch(thing, fields, new)


def _fold_terminal(shown: Json, kind: str, fields: Json) -> None:
    terminal = shown["terminals"].setdefault(fields["terminalId"], {"terminalId": fields["terminalId"]})
    if kind == "terminal_output_chunk":
        output = b64decode(terminal.get("output", "")) + b64decode(fields["data"])
        terminal["output"] = b64encode(output).decode()
        return
    if fields.get("output"):
        fields["output"] = fields["output"]["data"]
    _patch(terminal, fields, {})


def _patch(thing: Json, fields: Json, new: Json) -> None:
    """Null clears, `_meta` is patched key by key, and everything else is replaced."""
    for key, value in fields.items():
        if key == "_meta" and value is not None:
            merged = {**thing.get("_meta", {}), **value}
            thing["_meta"] = {name: item for name, item in merged.items() if item is not None}
        elif value is not None:
            thing[key] = deepcopy(value)
        else:
            thing.pop(key, None)
            thing.update({key: deepcopy(new[key])} if key in new else {})


def _chunk(content: list[Any], block: Json) -> None:
    content.append({**block, "piece": True} if block.keys() == {"type", "text"} and block["type"] == "text" else block)


def _joined(content: list[Any]) -> list[Any]:
    """Return content in which adjacent pieces of text are one block."""
    joined: list[Any] = []
    for block in content:
        if block.get("piece") and joined and joined[-1].get("piece"):
            joined[-1] = {**joined[-1], "text": joined[-1]["text"] + block["text"]}
        else:
            joined.append(block)
    return [{key: value for key, value in block.items() if key != "piece"} for block in joined]
