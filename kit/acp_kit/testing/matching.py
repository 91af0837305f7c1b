"""Compares the messages of two clients that do the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

# What differs between clients that do the same.
_OF_THE_CLIENT = ("additionalDirectories", "clientCapabilities", "clientInfo", "cwd", "mcpServers", "messageId")
_SHOWN = 3


def values_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a request or notification by their paths, without what differs between clients."""
    values = _flat(message.get("params"), "")
    own = tuple(f"{name}{end}" for name in _OF_THE_CLIENT for end in ".[")
    kept = {path: value for path, value in values.items() if not f"{path}.".startswith(own)}
    return {"method": message["method"], **kept}


def outcome_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user or the client has decided: whether it is an error, and what became of a permission."""
    outcome = {path: value for path, value in _flat(answer, "").items() if path.startswith("result.outcome.")}
    return {"is an error": "error" in answer, **outcome}


def differing(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> list[str]:
    """Return the paths of the values that differ."""
    return [path for path in {**recorded, **sent} if recorded.get(path) != sent.get(path)]


def described(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    """Return the first values that differ, as text."""
    paths = differing(recorded, sent)[:_SHOWN]
    return "; ".join(f"{path} is {_short(sent.get(path))}, recorded is {_short(recorded.get(path))}" for path in paths)


class Renames:
    """Texts that differ between the recording and the client, such as the working directory."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}  # the client's, by those of the recording
        self._theirs: dict[str, str] = {}

    def learn(self, recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> None:
        """Note what two messages that match call otherwise."""
        theirs, ours = _name_in(recorded), _name_in(sent)
        if theirs not in ("", "/", ours):
            self._ours[theirs], self._theirs[ours] = ours, theirs

    def for_client(self, message: Any) -> Any:
        """Return a message of the recording, as the client has to get it."""
        return _replaced(message, self._ours)

    def as_recorded(self, message: Any) -> Any:
        """Return a message of the client, as the recording has it."""
        return _replaced(message, self._theirs)


def _name_in(message: Mapping[str, Any]) -> str:
    match message:
        case {"params": {"cwd": str(name)}} | {"result": {"terminalId": str(name)}}:
            return name
        case _:
            return ""


def _replaced(value: object, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(field, names) for key, field in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_replaced(item, names) for item in cast("list[object]", value)]
    if not isinstance(value, str) or not names:
        return value
    # Whole names only, as /work is not part of /workspace, and the longest of several.
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.-])(?:{known})(?![\w.-])", lambda found: names[found[0]], value)


def _flat(value: object, path: str) -> dict[str, Any]:
    """Return the values by their paths. Null is the same as nothing, and so is an empty object or list."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        parts = [(f"{path}.{key}" if path else key, field) for key, field in fields.items() if key != "_meta"]
    elif isinstance(value, list):
        parts = [(f"{path}[{index}]", item) for index, item in enumerate(cast("list[object]", value))]
    else:
        return {} if value is None else {path: value}
    return {name: leaf for path, part in parts for name, leaf in _flat(part, path).items()}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
