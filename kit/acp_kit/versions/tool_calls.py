"""Tool calls: their content, and the files that they use."""

from __future__ import annotations

import os

from acp_kit.versions.diffs import diff_to_v2
from acp_kit.versions.json_objects import Json, without

_ENDED = ("completed", "failed")
_FIELDS = ("name", "kind", "status", "content", "locations", "rawInput", "rawOutput")


class ToolCalls:
    """The tool calls of a session.

    In version 2, everything with one id is the same call. In version 1, agents use an id again after its call has
    ended; then the new call gets an id of its own.

    Args:
        cwd: the folder that relative paths are in.
    """

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._ids: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._ended: set[str] = set()

    def begin_replay(self) -> None:
        """Forget the calls, because all of them are told again."""
        self._ids.clear()
        self._titles.clear()
        self._ended.clear()

    def start(self, call: Json) -> Json:
        """Return the fields of a `tool_call`. A second one for a running call replaces all of it."""
        id = call["toolCallId"]
        if self.is_running(id):
            return self._shown(dict.fromkeys(_FIELDS) | _without_nulls(call))
        if id in self._ids:
            self._ended.discard(id)
            self._ids[id] = _next_id(self._ids[id], id)
            self._titles.pop(id, None)
        return self.update(call)

    def update(self, call: Json) -> Json:
        """Return the fields of a `tool_call_update`. Null leaves a field unchanged in version 1."""
        self._ids.setdefault(call["toolCallId"], call["toolCallId"])
        return self._shown(_without_nulls(call))

    def is_known(self, id: str) -> bool:
        """Return whether there is a call with an id."""
        return id in self._ids

    def is_running(self, id: str) -> bool:
        """Return whether the call with an id has not ended."""
        return id in self._ids and id not in self._ended

    def title(self, id: str) -> str:
        """Return the title of a call; "" if it has none."""
        return self._titles.get(id, "")

    def _shown(self, call: Json) -> Json:
        id = call["toolCallId"]
        if call.get("title"):
            self._titles[id] = call["title"]
        if call.get("status") in _ENDED:
            self._ended.add(id)
        call["toolCallId"] = self._ids[id]
        if call.get("content"):
            call["content"] = [content_to_v2(item, self._cwd) for item in call["content"]]
        if call.get("locations"):
            call["locations"] = [_location_to_v2(item, self._cwd) for item in call["locations"]]
        return call


def _without_nulls(call: Json) -> Json:
    return {name: value for name, value in call.items() if value is not None}


def _next_id(shown: str, id: str) -> str:
    count = int(shown[len(id) + 1 :] or 1) + 1
    return f"{id}-{count}"


def content_to_v2(item: Json, cwd: str) -> Json:
    """Return an item of a tool call's content."""
    return diff_to_v2(item, absolute(item["path"], cwd)) if item["type"] == "diff" else item


def _location_to_v2(location: Json, cwd: str) -> Json:
    """Return a location. Lines begin at 1 in version 2; some agents send 0 for none."""
    location = location | {"path": absolute(location["path"], cwd)}
    return without(location, "line") if location.get("line") == 0 else location


def absolute(path: str, cwd: str) -> str:
    """Return a path that is absolute on this system, or one of Windows with a drive, as it is."""
    is_absolute = os.path.isabs(path) or path[1:3] in (":\\", ":/") or path.startswith("\\\\")
    return path if is_absolute else os.path.normpath(os.path.join(cwd, path))
