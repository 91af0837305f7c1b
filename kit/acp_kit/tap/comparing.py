"""Compares two recordings by meaning: ids, times, the order of members and the boundaries of chunks don't matter.

Messages are compared in each session, in their order. A response belongs to its request, except for that to a prompt,
which ends a turn. What is on stderr doesn't count.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, cast

from pydantic.alias_generators import to_camel

from acp_bindings.v1_unstable.updates import UPDATES as UPDATES_OF_VERSION_1
from acp_bindings.v2_draft_unstable.updates import UPDATES as UPDATES_OF_VERSION_2
from acp_kit.common.json_values import member, members_of
from acp_kit.common.texts import join_texts
from acp_kit.recording.file_format import OPPOSITE, Direction, NotARecordingError, Recorded
from acp_runtime.escaping import printable

# Ids that agents and clients make up, and times.
_IDS = {"sessionId", "optionId", "elicitationId"} | {
    to_camel(path.rpartition(".")[2])
    for table in (UPDATES_OF_VERSION_1, UPDATES_OF_VERSION_2)
    for path in (getattr(effect, "id", "") for effect in table.values())
    if path
}
_TIMES = {"updatedAt"}
_CONTEXT = 20
_MAX_VALUE = 200
_MISSING = object()


@dataclass(eq=False)
class _Event:
    """A message, several chunks, or a call with its response.

    Attributes:
        line: its first line in the recording.
        label: what it is, in words.
        value: its JSON, without what doesn't matter.
        pieces: the texts of chunks, which the value lacks.
    """

    line: int
    label: str
    value: dict[str, Any]
    pieces: list[str | bytes] = field(default_factory=list[str | bytes])

    def whole(self) -> dict[str, Any]:
        """Return the value with the text of its chunks."""
        if not self.pieces:
            return self.value
        text = join_texts(piece for piece in self.pieces if isinstance(piece, str))
        output = b"".join(piece for piece in self.pieces if isinstance(piece, bytes))
        return self.value | {"text of the chunks": text or output.decode(errors="backslashreplace")}


def compare(names: tuple[str, str], recordings: tuple[Iterable[Recorded], Iterable[Recorded]]) -> list[str]:
    """Return the first difference between two recordings, in lines of text; none if they mean the same.

    Args:
        names: the names of the files.
        recordings: the recordings.

    Raises:
        NotARecordingError: if a message is nested too deeply.
    """
    ours, others = (_read_events(recording) for recording in recordings)
    differences = [
        difference
        for session in {**ours, **others}
        if (difference := _first_difference(ours.get(session, []), others.get(session, []))) is not None
    ]
    if not differences:
        return []
    event, other = min(differences, key=lambda pair: min(event.line for event in pair if event is not None))
    return [printable(line, 3 * _MAX_VALUE) for line in _describe(names, event, other)]


def _first_difference(events: Sequence[_Event], others: Sequence[_Event]) -> tuple[_Event | None, _Event | None] | None:
    for event, other in zip_longest(events, others):
        if event is None or other is None or _difference(event.whole(), other.whole()) is not None:
            return event, other
    return None


def _describe(names: tuple[str, str], event: _Event | None, other: _Event | None) -> Iterator[str]:
    if event is None or other is None:
        present = event or other
        assert present is not None
        name, lacking = names if event is not None else names[::-1]
        yield f"first difference: line {present.line} of {name}, {present.label}: {lacking} has no such message there"
        return
    places = (f"line {shown.line} of {name}, {shown.label}" for name, shown in zip(names, (event, other), strict=True))
    yield f"first difference: {'; '.join(places)}"
    difference = _difference(event.whole(), other.whole())
    assert difference is not None
    path, value, other_value = difference
    start = 0
    if isinstance(value, str) and isinstance(other_value, str):
        same = next((place for place, pair in enumerate(zip_longest(value, other_value)) if pair[0] != pair[1]), 0)
        start = max(0, same - _CONTEXT)
    for name, shown in zip(names, (value, other_value), strict=True):
        yield f"  {name}: {path} is {_shorten(shown, start)}"


def _shorten(value: Any, start: int) -> str:
    if value is _MISSING:
        return "missing"
    if start:
        value = f"...{value[start:]}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _difference(value: Any, other: Any) -> tuple[str, Any, Any] | None:
    """Return the first difference in JSON: its path and both values."""
    unvisited: list[tuple[str, Any, Any]] = [("", value, other)]
    while unvisited:
        difference = path, one, two = unvisited.pop()
        if isinstance(one, dict) and isinstance(two, dict):
            fields = cast("dict[str, Any]", one)
            others = cast("dict[str, Any]", two)
            keys = [*fields, *(key for key in others if key not in fields)]
            unvisited += [
                (f"{path}.{key}".lstrip("."), fields.get(key, _MISSING), others.get(key, _MISSING))
                for key in reversed(keys)
            ]
        elif isinstance(one, list) and isinstance(two, list):
            items = cast("list[object]", one)
            other_items = cast("list[object]", two)
            pairs = [*enumerate(zip_longest(items, other_items, fillvalue=_MISSING))]
            unvisited += [(f"{path}[{index}]", item, other_item) for index, (item, other_item) in reversed(pairs)]
        elif one != two or isinstance(one, bool) != isinstance(two, bool):
            return difference
    return None


def _read_events(recording: Iterable[Recorded]) -> dict[str, list[_Event]]:
    """Return the events of each session, with what doesn't matter left out. Sessions are numbered."""
    reader = _Reader()
    for recorded in recording:
        if recorded.direction != "stderr":
            try:
                reader.add(recorded)
            except RecursionError:
                raise NotARecordingError(f"line {recorded.number} is nested too deeply to be compared") from None
    return reader.events


class _Reader:
    """Makes events of recorded lines.

    Attributes:
        events: the events, by session. Those of no session are in "".
    """

    def __init__(self) -> None:
        self.events: defaultdict[str, list[_Event]] = defaultdict(list)
        self._names: dict[tuple[str, str, str], str] = {}
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._calls: dict[tuple[Direction, str], tuple[_Event, str]] = {}

    def add(self, recorded: Recorded) -> None:
        """Add a line."""
        message = members_of(recorded.message)
        method = message.get("method")
        direction = recorded.direction
        if not isinstance(method, str):
            self._add_response(recorded, message)
            return
        params = message.get("params")
        id = member(params, "sessionId")
        session = self._name("", "sessionId", id) if isinstance(id, str) else ""
        value = {"direction": direction, "method": method, "params": self._normalise(params, session)}
        if method == "$/cancel_request":  # it names another request
            call = self._calls.get((direction, json.dumps(member(params, "requestId"))))
            value["params"] = None if call is None else call[0].label
        update = members_of(value, "params", "update")
        event = _Event(recorded.number, f"{method} {update.get('sessionUpdate', '')}".rstrip(), value)
        events = self.events[session]
        if (text := _take_text(update)) is not None:
            if events and events[-1].pieces and events[-1].value == value:
                events[-1].pieces.append(text)
                return
            event.pieces.append(text)
        events.append(event)
        if "id" in message:
            self._calls[direction, json.dumps(message["id"])] = event, session

    def _add_response(self, recorded: Recorded, message: Mapping[str, Any]) -> None:
        key = (OPPOSITE[recorded.direction], json.dumps(message.get("id")))
        event, session = self._calls.pop(key, (None, ""))
        value = {name: self._normalise(message[name], session) for name in ("result", "error") if name in message}
        if event is None or not value:
            content = {"direction": recorded.direction, "message": recorded.message, "line": recorded.line}
            self.events[""].append(_Event(recorded.number, "not a message", value or content))
        elif event.label == "session/prompt":
            self.events[session].append(_Event(recorded.number, "the response to session/prompt", value))
        else:
            event.value |= value

    def _normalise(self, value: Any, session: str) -> Any:
        """Return a copy of JSON with numbered ids, and without times."""
        if isinstance(value, list):
            return [self._normalise(item, session) for item in cast("list[object]", value)]
        if not isinstance(value, dict):
            return value
        return {
            key: self._name("" if key == "sessionId" else session, key, item)
            if key in _IDS and isinstance(item, str)
            else self._normalise(item, session)
            for key, item in cast("dict[str, Any]", value).items()
            if key not in _TIMES
        }

    def _name(self, session: str, key: str, id: str) -> str:
        if (session, key, id) not in self._names:
            self._counts[session, key] += 1
            self._names[session, key, id] = f"{key} {self._counts[session, key]}"
        return self._names[session, key, id]


def _take_text(update: dict[str, Any]) -> str | bytes | None:
    """Remove the text or the bytes of a chunk, and return them; None if the update is something else."""
    if not str(update.get("sessionUpdate")).endswith("_chunk"):
        return None
    block = update
    while isinstance(block.get("content"), dict):
        block = block["content"]
    if isinstance(text := block.get("text"), str):
        del block["text"]
        return text
    try:
        output = b64decode(str(update["data"]), validate=True)
    except (KeyError, ValueError):
        return None
    del update["data"]
    return output
