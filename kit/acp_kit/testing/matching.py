"""Compares the messages of two clients that do the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# What differs between clients that do the same.
_OF_THE_CLIENT = {"additionalDirectories", "clientCapabilities", "clientInfo", "cwd", "mcpServers", "messageId"}
_SHOWN = 3


def values_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a request or notification by their paths, without what differs between clients."""
    params = message.get("params")
    if isinstance(params, dict):
        params = {key: value for key, value in params.items() if key not in _OF_THE_CLIENT}
    return {"method": message["method"], **_flat(params, "")}


def outcome_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user or the client has decided: whether it is an error, and what became of a permission."""
    result = answer.get("result")
    outcome = result.get("outcome") if isinstance(result, dict) else None
    return {"is an error": "error" in answer, **_flat(outcome, "outcome")}


def differing(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> list[str]:
    """Return the paths of the values that differ."""
    return [path for path in {**recorded, **sent} if recorded.get(path) != sent.get(path)]


def described(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    """Return the first values that differ, as text."""
    paths = differing(recorded, sent)[:_SHOWN]
    return "; ".join(f"{each} is {_short(sent.get(each))}, recorded is {_short(recorded.get(each))}" for each in paths)


class Renames:
    """Texts that differ between the recording and the client, such as the working directory."""

    def __init__(self) -> None:
        self._pairs: list[tuple[str, str]] = []

    def add(self, recorded: object, sent: object) -> None:
        """Note what is called otherwise."""
        if isinstance(recorded, str) and isinstance(sent, str) and recorded not in (sent, "", "/"):
            self._pairs.append((recorded, sent))

    def for_client(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message of the recording, as the client has to get it."""
        return _replaced(message, self._pairs)

    def as_recorded(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message of the client, as the recording has it."""
        return _replaced(message, [(sent, recorded) for recorded, sent in self._pairs])


def _replaced(message: dict[str, Any], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    text = json.dumps(message)
    for old, new in pairs:
        # Not in the middle of a word: /work is not part of /workspace.
        pattern = rf"(?<![\w.-]){re.escape(_inside(old))}(?![\w.-])"
        text = re.sub(pattern, _inside(new).replace("\\", r"\\"), text)
    replaced: dict[str, Any] = json.loads(text)
    return replaced


def _flat(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, dict):
        items = [(f"{path}.{key}".lstrip("."), each) for key, each in value.items() if key != "_meta"]
    elif isinstance(value, list):
        items = [(f"{path}[{index}]", each) for index, each in enumerate(value)]
    else:
        return {} if value is None else {path: value}
    return {name: leaf for path, each in items for name, leaf in _flat(each, path).items()}


def _inside(text: str) -> str:
    return json.dumps(text)[1:-1]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
