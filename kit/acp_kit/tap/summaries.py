"""Summarises messages in a few words. They may have any form, because nothing has checked them."""

from __future__ import annotations

from typing import Any

from acp_kit.common.json_values import items_of, member, members_of

# Members that summarise an object. The first group counts whose first member the object has.
_SUMMARISING = [
    ("prompt",),
    ("uri",),
    ("text",),
    ("command", "args"),
    ("toolCall",),
    ("id", "currentValue"),
    ("name", "version"),
    ("title", "updatedAt"),
    ("toolCallId",),
    ("configId", "value"),
    ("availableCommands",),
    ("configOptions",),
    ("currentModeId",),
    ("path",),
    ("terminalId",),
    ("modeId",),
    ("methodId",),
    ("message",),
    ("cwd",),
    ("requestId",),
    ("type",),
]
_IDENTIFYING = ("sessionId", "sessionUpdate", "_meta")
_MAX_DEPTH = 5
_STATUS = {"signal": "signal", "exitCode": "exit code"}


def summarise(value: Any, depth: int = _MAX_DEPTH) -> str:
    """Summarise params, an update or a part of them.

    Args:
        value: the JSON.
        depth: how many levels of it to show.
    """
    if items := items_of(value):
        separator = ", " if isinstance(items[0], dict) else " "
        return separator.join(summarise(item, depth - 1) for item in items if depth)
    members = members_of(value)
    if not members or not depth:
        return "" if isinstance(value, (dict, list)) else str(value)
    if "protocolVersion" in members:
        info = summarise(members.get("clientInfo", members.get("agentInfo", {})), depth - 1)
        return f"version {members['protocolVersion']}{info and ', '}{info}"
    if entries := items_of(members, "entries"):
        completed = sum(member(entry, "status") == "completed" for entry in entries)
        return f"{completed} of {len(entries)} completed"
    if names := next((names for names in _SUMMARISING if members.get(names[0])), None):
        return " ".join(summarise(members[name], depth - 1) for name in names if name in members)
    others = [name for name in members if name not in _IDENTIFYING]
    return ", ".join(f"{name} {summarise(members[name], depth - 1)}" for name in others)


def summarise_response(response: dict[str, Any], params: dict[str, Any]) -> str:
    """Summarise the response to a request with these params."""
    if "error" in response:
        return _summarise_error(members_of(response["error"]))
    result = members_of(response, "result")
    if outcome := members_of(result, "outcome"):
        id = outcome.get("optionId", outcome.get("outcome"))
        options = map(members_of, items_of(params, "options"))
        return str(next((option.get("kind") for option in options if option.get("optionId") == id), id))
    if "protocolVersion" in result:
        return summarise(result)
    status = members_of(result, "exitStatus") or result
    words = [str(result[name]) for name in ("stopReason", "sessionId", "terminalId", "action") if name in result]
    words += [f"{len(text)} characters" for name in ("content", "output") if isinstance(text := result.get(name), str)]
    words += [f"{word} {status[name]}" for name, word in _STATUS.items() if status.get(name) is not None]
    return ", ".join(words) or "ok"


def _summarise_error(error: dict[str, Any]) -> str:
    data = error.get("data")
    reason = member(data, "details") or (data if isinstance(data, str) else "")  # as SDKs send it
    return f"error {error.get('code')}: {error.get('message')}{f': {reason}' if reason else ''}"
