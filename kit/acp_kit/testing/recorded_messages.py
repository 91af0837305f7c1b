"""The messages of a recording as they are played, and what two of them have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from acp_kit.common.json_values import items_of, member, members_of, messages_in
from acp_kit.recording.file_format import OPPOSITE, Direction, Recorded
from acp_runtime.escaping import printable

# Members that may differ between clients, and ids that agents make.
_SPECIFIC = re.compile("_meta|additionalDirectories|cwd|mcpServers|messageId|toolCallId")
# The decisions in a response: of the user, and why a turn has ended.
_DECISION = re.compile(r"result\.(outcome\..*|action|stopReason)")


@dataclass(frozen=True, eq=False)
class Entry:
    """A message to play.

    Attributes:
        index: its index in the list of entries.
        line: its line in the recording, from 1.
        direction: the client's message (`c2a`), or the agent's (`a2c`).
        message: the message. The id of a request and of its response is the index of the request.
        request: the request that it answers; None if it isn't a response.
    """

    index: int
    line: int
    direction: Direction
    message: dict[str, Any]
    request: Entry | None

    @property
    def label(self) -> str:
        """What it is, with control characters escaped: a method, or the answer to one."""
        if self.request is not None:
            return f"the answer to {self.request.label}"
        return printable(str(self.message["method"]))

    @property
    def title(self) -> str:
        """What it is, and where."""
        return f"{self.label} (line {self.line})"

    @property
    def session(self) -> str | None:
        """The session that it or its request names."""
        session: object = member((self.request or self).message, "params", "sessionId")
        return session if isinstance(session, str) else None


def entries_to_play(recording: Iterable[Recorded]) -> list[Entry]:
    """Return the entries to play. The messages of an array, which version 2 allows, are entries of their own."""
    entries: list[Entry] = []
    pending: dict[tuple[str, str], Entry] = {}
    for recorded in recording:
        for message in messages_in(recorded.message):
            request = None
            id = repr(message.get("id"))
            if "method" not in message:
                request = pending.pop((OPPOSITE[recorded.direction], id), None)
            if request is None and str(message.get("method", "$/")).startswith("$/"):  # it has the id of a request
                continue
            entry = Entry(len(entries), recorded.number, recorded.direction, {**message}, request)
            if request is not None:
                entry.message["id"] = request.index
            elif "id" in message:
                entry.message["id"] = entry.index
                pending[recorded.direction, id] = entry
            entries.append(entry)
    return entries


def values_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that all clients should send in a message, by their paths.

    For a response: whether it is an error, and the decision in it.
    """
    if "method" not in message:
        decision = {path: value for path, value in _flatten(message).items() if _DECISION.fullmatch(path)}
        return {"is an error": "error" in message, **decision}
    params = message.get("params")
    if message["method"] == "initialize":
        params = {"protocolVersion": member(params, "protocolVersion")}
    return {"method": message["method"], **_flatten(params)}


def _flatten(value: object) -> dict[str, Any]:
    """Return the values in JSON by their paths, without null and without empty objects and lists."""
    values: dict[str, Any] = {}
    unvisited: list[tuple[str, object]] = [("", value)]
    while unvisited:
        path, node = unvisited.pop()
        fields = [(key, field) for key, field in members_of(node).items() if not _SPECIFIC.fullmatch(key)]
        unvisited += [(f"{path}.{key}".lstrip("."), field) for key, field in reversed(fields)]
        unvisited += [(f"{path}[{index}]", item) for index, item in reversed([*enumerate(items_of(node))])]
        if node is not None and not isinstance(node, (dict, list)):
            values[path] = node
    return values


def name_of_client(message: Mapping[str, Any]) -> str:
    """Return the name of a client in a message: a working directory or the id of a terminal, escaped as in JSON."""
    name = member(message, "params", "cwd") or member(message, "result", "terminalId")
    return escape(name) if isinstance(name, str) else ""


def escape(name: str) -> str:
    """Return a name as it is in JSON, without a slash at its end."""
    return json.dumps(name.rstrip("/"), ensure_ascii=False)[1:-1]


def rename(message: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a recorded message, with other names in its texts."""
    if not names:
        return {**message}
    # Replaces whole names (/work, but not in /workspace), also after an escape, and the longest name first.
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = rf"(?:(?<![\w.-])|(?<=[^\\]\\[nrt]))(?:{alternatives})(?![\w.-])"
    return json.loads(re.sub(pattern, lambda match: names[match[0]], json.dumps(message, ensure_ascii=False)))
