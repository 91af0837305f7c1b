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
    shown |= {"title": None, "updated_at": None, "notices": []}
    for update in updates:
        _fold(shown, update)
    return shown


def _fold(shown: Json, update: Json) -> None:
    tag, timeline = update["sessionUpdate"], shown["timeline"]
    fields = {key: value for key, value in update.items() if key != "sessionUpdate"}
    if tag in ROLES:
        _fold_chunk(timeline, update)
    elif tag in ("tool_call", "tool_call_update"):
        known = [entry for entry in timeline if entry.get("toolCallId") == update["toolCallId"]]
        patch = {key: value for key, value in fields.items() if value is not None and (key, value) != ("title", "")}
        if not known or (tag == "tool_call" and _is_over(timeline, known[-1])):
            timeline.append(fields if tag == "tool_call" else {"title": "", **patch})
        else:
            known[-1].update(patch)
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


def _is_over(timeline: list[Json], call: Json) -> bool:
    later = timeline[next(place for place, entry in enumerate(timeline) if entry is call) :]
    return call.get("status") in ("completed", "failed") or any(entry.get("role") == "user" for entry in later)


def _fold_chunk(timeline: list[Json], update: Json) -> None:
    message = {"role": ROLES[update["sessionUpdate"]], "id": update.get("messageId")}
    if not timeline or {key: timeline[-1].get(key, 0) for key in message} != message:
        timeline.append({**message, "content": [], "text": ""})
    last = timeline[-1]
    last["text"] += update["content"].get("text", "") if update["content"]["type"] == "text" else ""
    _add_content(last["content"], update)


def _fold_compaction(timeline: list[Json], update: Json) -> None:
    fields = {key: value for key, value in update.items() if key != "sessionUpdate"}
    known = [entry for entry in timeline if entry.get("compactionId") == update["compactionId"]]
    if not known:
        known = [{"compactionId": update["compactionId"], "status": "in_progress"}]
        timeline.append(known[0])
    if update["sessionUpdate"] == "compaction_summary_chunk":
        known[0]["summary"] = [*(known[0].get("summary") or ())]
        _add_content(known[0]["summary"], {"content": update["content"]})  # the other fields of a chunk are not kept
        return
    if fields.get("summary"):
        blocks = fields["summary"]
        fields["summary"] = [{**block, "plain": True} if {*block} == {"type", "text"} else block for block in blocks]
    known[0].update(fields)


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
    return [without_marks(entry) for entry in shown] if isinstance(shown, list) else shown
