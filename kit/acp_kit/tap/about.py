"""What messages are about, in a few words. They may have any form, since nothing has checked them."""

from __future__ import annotations

from typing import Any, cast

# The members that say what an object is about: the first of these groups of which it has the first member.
_MEMBERS = [
    names.split()
    for names in (
        *("prompt", "uri", "text", "command args", "toolCall", "id currentValue", "name version"),
        *("title updatedAt", "toolCallId", "configId value", "availableCommands", "configOptions", "currentModeId"),
        *("path", "terminalId", "modeId", "methodId", "message", "cwd", "requestId", "type"),
    )
]
_IDENTIFYING = ("sessionId", "sessionUpdate", "_meta")
_DEPTH = 5
_STATUS = {"signal": "signal", "exitCode": "exit code"}


def members_of(value: Any) -> dict[str, Any]:
    """Return the members of JSON that ought to be an object; none if it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[object]:
    """Return the items of JSON that ought to be a list; none if it is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def about(value: Any, depth: int = _DEPTH) -> str:
    """Return what params, an update or a part of them are about."""
    if items := items_of(value):
        return (", " if isinstance(items[0], dict) else " ").join(about(item, depth - 1) for item in items if depth)
    members = members_of(value)
    if not members or not depth:
        return "" if isinstance(value, (dict, list)) else str(value)
    if "protocolVersion" in members:
        info = about(members.get("clientInfo", members.get("agentInfo", {})), depth - 1)
        return f"version {members['protocolVersion']}{info and ', '}{info}"
    if entries := items_of(members.get("entries")):
        done = sum(members_of(entry).get("status") == "completed" for entry in entries)
        return f"{done} of {len(entries)} completed"
    if names := next((names for names in _MEMBERS if members.get(names[0])), None):
        return " ".join(about(members[name], depth - 1) for name in names if name in members)
    others = [name for name in members if name not in _IDENTIFYING]
    return ", ".join(f"{name} {about(members[name], depth - 1)}" for name in others)


def about_answer(message: dict[str, Any], params: dict[str, Any]) -> str:
    """Return how a call ended, by its answer and its params."""
    if "error" in message:
        error = members_of(message["error"])
        data = error.get("data")
        reason = members_of(data).get("details") or (data if isinstance(data, str) else "")  # as SDKs give it
        return f"error {error.get('code')}: {error.get('message')}{f': {reason}' if reason else ''}"
    result = members_of(message.get("result"))
    if outcome := members_of(result.get("outcome")):
        id = outcome.get("optionId", outcome.get("outcome"))
        options = map(members_of, items_of(params.get("options")))
        return str(next((option.get("kind") for option in options if option.get("optionId") == id), id))
    if "protocolVersion" in result:
        return about(result)
    status = members_of(result.get("exitStatus")) or result
    words = [str(result[name]) for name in ("stopReason", "sessionId", "terminalId", "action") if name in result]
    words += [f"{len(text)} characters" for name in ("content", "output") if isinstance(text := result.get(name), str)]
    words += [f"{word} {status[name]}" for name, word in _STATUS.items() if status.get(name) is not None]
    return ", ".join(words) or "ok"
