"""Analyses a recording: joins calls with answers, merges updates, and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_bindings.v1_unstable import connecting as unstable
from acp_kit.recording.file_format import Direction, Recorded
from acp_kit.tap.about import about, about_answer, members_of
from acp_kit.tap.row import Kind, Row
from acp_kit.updates.entries import key_of
from acp_kit.updates.merging import has_ended
from acp_kit.updates.messages import Message
from acp_kit.updates.table import PERMISSION, TABLE, AddsChunk, ChangesEntry, tag_of
from acp_kit.updates.timeline import Timeline
from acp_runtime.jsonrpc import check_line

# The side that receives what goes in a direction, and the same in v1_unstable.
_SIDES: dict[Direction, tuple[Any, Any]] = {
    "c2a": (AGENT_SIDE, unstable.AGENT_SIDE),
    "a2c": (CLIENT_SIDE, unstable.CLIENT_SIDE),
}
_BACK: dict[Direction, Direction] = {"c2a": "a2c", "a2c": "c2a"}
# What the tap itself has recorded begins so.
_TAP = "acp-bindings tap: "
# The rules of docs/project/protocol-rules.md, by the code of the error.
_RULES = {-32700: 3, -32600: 4, -32601: 11, -32602: 12}


def analyse(recording: Iterable[Recorded]) -> list[Row]:
    """Return the rows of a recording, in the order of their first lines."""
    analyser = _Analyser()
    for recorded in recording:
        analyser.add(recorded)
    return analyser.end()


@dataclass(eq=False)
class _Session:
    """What is known of a session, since it was created or loaded.

    Attributes:
        replay: the call that loads it.
        turn: its newest turn.
        cancelled: the line of the notification that cancels that turn; 0 if there is none.
        timeline: its updates.
        entries: the rows of messages and tool calls, by their places in the timeline, and of other updates, by tag and
            turn.
    """

    replay: Row | None = None
    turn: Row | None = None
    cancelled: int = 0
    timeline: Timeline = field(default_factory=Timeline)
    entries: dict[object, Row] = field(default_factory=dict[object, Row])

    @property
    def running(self) -> Row | None:
        """The turn that runs."""
        return self.turn if self.turn is not None and self.turn.is_open else None

    @property
    def is_replaying(self) -> bool:
        """Whether it is being loaded."""
        return self.replay is not None and self.replay.is_open


class _Analyser:
    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._entries: dict[Row, Any] = {}  # what the updates in a row amount to
        self._begin()

    def _begin(self) -> None:
        """Begin with a connection. A file may have several, one after the other."""
        self._pending: dict[tuple[str, str], tuple[Row, dict[str, Any]]] = {}
        self._used: dict[tuple[str, str], int] = {}
        self._sessions: dict[str, _Session] = {}

    def add(self, line: Recorded) -> None:
        """Add the next line of the recording to a row."""
        self._line = line
        message = members_of(line.message)
        method, params = message.get("method"), members_of(message.get("params"))
        if line.direction == "stderr":
            row = self._row("text", title=line.line or "")
            self._blame(row, row.title.partition(_TAP)[2])
        elif method == "session/update" and line.direction == "a2c":
            row = self._update(params, str(params.get("sessionId", "")))
        elif isinstance(method, str):
            row = self._call(method, message, params)
        elif "result" in message or "error" in message:
            row = self._answer(message)
        else:
            row = self._row("text", title=line.line or json.dumps(line.message))
            self._blame(row, self._check()[1])
        row.add(line)

    def end(self) -> list[Row]:
        """Return the rows: with what updates amount to, and what has no answer now gets none."""
        for row, entry in self._entries.items():
            if isinstance(entry, Message):
                message = entry.latest()
                row.title = message.text or " ".join(f"[{block.type}]" for block in message.content)
            else:
                row.title, row.outcome = getattr(entry, "title", ""), entry.status or "pending"
                row.method = getattr(entry, "kind", None) or row.method
        for row in self._rows:
            if row.is_open:
                row.outcome = "no answer"
                row.problems.append((row.lines[0], f"{row.method} has no answer"))
        return sorted((row for row in self._rows if row.lines), key=lambda row: row.lines[0])

    def _call(self, method: str, message: dict[str, Any], params: dict[str, Any]) -> Row:
        is_turn = method == "session/prompt" and self._line.direction == "c2a"
        kind: Kind = "notification" if "id" not in message else "turn" if is_turn else "call"
        if method == "initialize" and self._line.direction == "c2a":
            self._begin()
        row = self._row(kind, method, about(params), str(params.get("sessionId", "")))
        session = self._session(row.session)
        value, fault = self._check()
        self._blame(row, fault)
        if kind != "notification":
            key = (row.direction, json.dumps(message["id"]))
            if key in self._pending:
                self._blame(row, f"the id {key[1]} is used again before line {self._used[key]} is answered (rule 8)")
            self._pending[key], self._used[key] = (row, params), self._line.number
        if kind == "turn":
            if session.running is not None:
                self._blame(row, f"the turn of line {session.running.lines[0]} still runs")
            session.timeline.end_message()
            row.turn = 1 + (session.turn.turn if session.turn is not None else 0)
            session.turn, session.cancelled = row, 0
        elif method in ("session/load", "session/resume"):
            self._sessions[row.session] = _Session(row, session.turn)
        elif method == "session/cancel":
            session.cancelled = self._line.number
        elif method == PERMISSION and value is not None:
            self._apply(row.session, value.tool_call)
            row.title = session.timeline.tool_calls[value.tool_call.tool_call_id].title or row.title
        return row

    def _answer(self, message: dict[str, Any]) -> Row:
        key = (_BACK[self._line.direction], json.dumps(message.get("id")))
        row, params = self._pending.pop(key, (None, dict[str, Any]()))
        if row is None:
            row = self._row("notification", "answer", f"id {key[1]}")
            nothing = "an answer to no request, or to a line that could not be read (rule 8)"
            self._blame(row, f"another answer to line {self._used[key]} (rule 8)" if key in self._used else nothing)
        else:
            self._blame(row, self._check(row.method)[1])
        row.is_error, row.outcome = "error" in message, about_answer(message, params)
        if row.method == "session/new":
            row.session = str(members_of(message.get("result")).get("sessionId", ""))
        if row.kind == "turn" and (session := self._session(row.session)).turn is row:
            self._end_turn(row, session)
        return row

    def _end_turn(self, row: Row, session: _Session) -> None:
        if row.outcome != "cancelled":
            if session.cancelled:
                self._blame(row, f"cancelled by line {session.cancelled}, but the answer is {row.outcome}")
            for place, entry in session.timeline.entries.items():
                call = session.entries[place]
                if call.kind == "tool" and call.turn == row.turn and call.lines and not has_ended(entry):
                    status = entry.status or "pending"
                    self._blame(row, f"the turn ends, and the tool call of line {call.lines[0]} is {status}")
        session.timeline.end_message()

    def _update(self, params: dict[str, Any], name: str) -> Row:
        value, fault = self._check()
        update, session = members_of(params.get("update")), self._session(name)
        tag = str(update.get("sessionUpdate", "session/update"))
        if value is not None and isinstance(TABLE.get(tag), AddsChunk | ChangesEntry):
            row = self._apply(name, value.update)
            if session.running is None and not session.is_replaying:
                self._blame(row, f"{tag} outside of a turn")
        else:
            row = self._entry(name, (tag, session.turn, session.running), "state", tag)
            row.title = about(update)
        self._blame(row, fault)
        return row

    def _apply(self, name: str, update: Any) -> Row:
        """Apply an update, or the tool call of a permission request. Return the row of the entry that it changes."""
        session, key, tag = self._session(name), key_of(update), tag_of(update)
        before = None if key is None else session.entries.get(session.timeline.places.get(key))
        place = session.timeline.apply(update)
        assert place is not None
        effect = TABLE[tag]
        if isinstance(effect, AddsChunk):
            row = self._entry(name, place, "message", effect.role)
        else:
            row = self._entry(name, place, "tool", "" if key and key[0] == "tool_call_id" else "compaction")
        self._entries[row] = session.timeline.entries[place]
        if key and tag == "tool_call_update" and before is None:
            self._blame(row, f"a tool_call_update, but no tool call has the id {key[1]}")
        elif key and before and before.lines and row is not before and tag == "tool_call" and not session.is_replaying:
            self._blame(row, f"the id {key[1]} is used again, after the tool call of line {before.lines[0]}")
        return row

    def _row(self, kind: Kind, method: str = "", title: str = "", session: str = "") -> Row:
        known = self._session(session)
        turn = known.running.turn if known.running is not None else 0
        row = Row(kind, self._line.direction, method, title, session, turn, known.is_replaying)
        self._rows.append(row)
        return row

    def _entry(self, session: str, key: object, kind: Kind, method: str) -> Row:
        """Return the row of several updates."""
        entries = self._session(session).entries
        if key not in entries:
            entries[key] = self._row(kind, method, session=session)
        return entries[key]

    def _session(self, name: str) -> _Session:
        """Return what is known of a session. What comes before a fork is answered may be the replay of its result."""
        if name not in self._sessions:
            fork = next((row for row, _ in self._pending.values() if row.method == "session/fork"), None)
            self._sessions[name] = _Session(fork)
        return self._sessions[name]

    def _check(self, call: str = "") -> tuple[Any, str]:
        """Check the line in version 1, then in v1_unstable. Return what it holds, and why it is refused."""
        text = json.dumps(self._line.message) if self._line.line is None else self._line.line
        line = text.encode(errors="backslashreplace")
        stable, draft = _SIDES[self._line.direction]
        checked = check_line(stable, line, call)
        if not checked.fault:
            return checked.value, ""
        other = check_line(draft, line, call)
        rule = 9 if checked.kind == "response" else _RULES.get(checked.code or -32602, 12)
        code = f"{checked.code}, " if checked.code else ""
        where = "" if other.fault else ", v1_unstable accepts it"
        return other.value, f"{checked.fault} ({code}rule {rule}{where})"

    def _blame(self, row: Row, problem: str) -> None:
        """Add what is wrong with the line to a row, which says the same only once."""
        if problem and all(problem != known for _, known in row.problems):
            row.problems.append((self._line.number, problem))
