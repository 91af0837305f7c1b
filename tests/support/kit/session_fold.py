"""What a session shows, computed from the JSON of its updates in the plainest way. The reference for `SessionState`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

ROLES = {"user_message_chunk": "user", "agent_message_chunk": "agent", "agent_thought_chunk": "thought"}
LATEST = {
    "plan": ("plan", "entries"),
    "current_mode_update": ("mode", "currentModeId"),
    "config_option_update": ("options", "configOptions"),
    "available_commands_update": ("commands", "availableCommands"),
}


def fold(updates: Iterable[Json]) -> Json:
    """Return what a session shows after these updates, as JSON."""
    shown: Json = {"timeline": [], "plan": [], "mode": None, "options": [], "commands": [], "usage": None}
    shown |= {"title": None, "updated_at": None, "notices": [], "unknown": 0}
    for update in updates:
        _fold(shown, update)
    return shown


def _fold(shown: Json, update: Json) -> None:
    tag, timeline = update["sessionUpdate"], shown["timeline"]
    fields = {key: value for key, value in update.items() if key != "sessionUpdate"}
    if tag in ROLES:
        _fold_chunk(timeline, update)
    elif tag in ("tool_call", "tool_call_update"):
        known = [each for each in timeline if each.get("toolCallId") == update["toolCallId"]]
        patch = {key: value for key, value in fields.items() if value is not None}
        if not known:
            timeline.append(fields if tag == "tool_call" else {"title": "", **patch})
        elif tag == "tool_call":
            timeline[timeline.index(known[0])] = fields
        else:
            known[0].update(patch)
    elif tag.startswith("compaction"):
        _fold_compaction(timeline, update)
    elif tag in LATEST:
        name, key = LATEST[tag]
        shown[name] = update[key]
    elif tag == "usage_update":
        shown["usage"] = fields
    elif tag == "session_info_update":
        shown["title"] = update.get("title", shown["title"])
        shown["updated_at"] = update.get("updatedAt", shown["updated_at"])
    elif tag == "notice":
        shown["notices"].append(fields)
    else:
        shown["unknown"] += 1


def _fold_chunk(timeline: list[Json], update: Json) -> None:
    message = {"role": ROLES[update["sessionUpdate"]], "id": update.get("messageId")}
    if not timeline or {key: timeline[-1].get(key, 0) for key in message} != message:
        timeline.append({**message, "content": [], "text": ""})
    last = timeline[-1]
    last["text"] += update["content"].get("text", "") if update["content"]["type"] == "text" else ""
    _add_content(last["content"], update)


def _fold_compaction(timeline: list[Json], update: Json) -> None:
    known = [each for each in timeline if each.get("compaction") == update["compactionId"]]
    if not known:
        known = [{"compaction": update["compactionId"], "status": "in_progress", "error": None, "meta": None}]
        known[0]["summary"] = []
        timeline.append(known[0])
    if update["sessionUpdate"] == "compaction_summary_chunk":
        _add_content(known[0]["summary"], update)
        return
    known[0]["status"] = update["status"]
    known[0]["summary"] = list(update.get("summary", known[0]["summary"]) or ())
    known[0]["error"] = update.get("error", known[0]["error"])
    known[0]["meta"] = update.get("_meta", known[0]["meta"])


def _add_content(content: list[Json], update: Json) -> None:
    """Add a block. Adjacent texts without anything else are one."""
    block = update["content"]
    is_plain = block.keys() == {"type", "text"} and "_meta" not in update and "own" not in update
    if is_plain and content and content[-1].get("plain"):
        content[-1]["text"] += block["text"]
    else:
        content.append({**block, "plain": True} if is_plain else block)


def without_marks(shown: Any) -> Any:
    """Return what `fold` returned without its notes about blocks of text."""
    if isinstance(shown, dict):
        return {key: without_marks(value) for key, value in shown.items() if key != "plain"}
    return [without_marks(each) for each in shown] if isinstance(shown, list) else shown
