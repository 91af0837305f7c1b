"""Tool calls: their content, and the files that they use."""

from __future__ import annotations

import os

from acp_kit.versions.diffs import diff_to_v2
from acp_kit.versions.json_objects import Json, without
from acp_kit.versions.unique_ids import UniqueIds

_ENDED = ("completed", "failed")


class ToolCalls:
    """The tool calls of a session.

    In version 2, everything with one id is the same call. In version 1, a start with the id of a call that has ended,
    or whose turn is over, is another call.

    Attributes:
        cwd: the folder that relative paths are in.
    """

    def __init__(self, cwd: str) -> None:
        self.cwd: str = cwd
        self._unique = UniqueIds()
        self._ids: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._running: set[str] = set()

    def begin_turn(self) -> None:
        """Begin a turn: the calls of earlier ones are over."""
        self._running.clear()

    def begin_replay(self) -> None:
        """Forget the calls, because the agent sends all of them again."""
        self._unique.clear()
        self._ids.clear()
        self._titles.clear()

    def start(self, call: Json) -> Json:
        """Return the fields of a `tool_call`, or of one in a question. For a running call, they change what it has."""
        id = call["toolCallId"]
        if not self.is_running(id):
            self._begin(id)
        return self.update(call)

    def update(self, call: Json) -> Json:
        """Return the fields of a `tool_call_update`. In version 1, null and an empty title change nothing."""
        id = call["toolCallId"]
        if not self.is_known(id):
            self._begin(id)
        if call.get("title"):
            self._titles[id] = call["title"]
        else:
            call = without(call, "title")
        if call.get("status") in _ENDED:
            self._running.discard(id)
        shown = {name: value for name, value in call.items() if value is not None} | {"toolCallId": self._ids[id]}
        if call.get("content"):
            shown["content"] = [content_to_v2(item, self.cwd) for item in call["content"]]
        if call.get("locations"):
            shown["locations"] = [_location_to_v2(item, self.cwd) for item in call["locations"]]
        return shown

    def _begin(self, id: str) -> None:
        self._ids[id] = self._unique.new(id)
        self._titles.pop(id, None)
        self._running.add(id)

    def is_known(self, id: str) -> bool:
        """Return whether there is a call with an id."""
        return id in self._ids

    def is_running(self, id: str) -> bool:
        """Return whether the call with an id runs."""
        return id in self._running

    def title(self, id: str) -> str:
        """Return the title of a call; "" if it has none."""
        return self._titles.get(id, "")


def content_to_v2(item: Json, cwd: str) -> Json:
    """Return an item of a tool call's content."""
    return diff_to_v2(item, absolute(item["path"], cwd)) if item["type"] == "diff" else item


def _location_to_v2(location: Json, cwd: str) -> Json:
    """Return a location. Lines begin at 1 in version 2; some agents send 0 for none."""
    location = location | {"path": absolute(location["path"], cwd)}
    return without(location, "line") if location.get("line") == 0 else location


def absolute(path: str, cwd: str) -> str:
    """Return a path as it is if it is absolute, else the path in a folder."""
    return path if is_absolute(path) else os.path.normpath(os.path.join(cwd, path))


def is_absolute(path: str) -> bool:
    """Return whether a path is absolute, in the form of this system, of POSIX or of Windows."""
    return os.path.isabs(path) or path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")
