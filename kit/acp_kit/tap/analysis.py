"""Analyses a recording: joins calls with answers, merges updates, and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_bindings.v1_unstable import connecting as unstable
from acp_kit.recording import Direction, Recorded
from acp_kit.tap.rows import Analysis, Kind, Row, about_call, about_error, about_result, about_state, fields_of, name_of
from acp_kit.timeline import Message, Timeline, key_of
from acp_kit.updates import PERMISSION, TABLE, Changes, Says, has_ended, tag_of
from acp_runtime.jsonrpc import CheckedLine, check_line

# The side that receives what goes in a direction, and the same in v1_unstable.
_SIDES: dict[Direction, tuple[Any, Any]] = {
    "c2a": (AGENT_SIDE, unstable.AGENT_SIDE),
    "a2c": (CLIENT_SIDE, unstable.CLIENT_SIDE),
}
_BACK: dict[Direction, Direction] = {"c2a": "a2c", "a2c": "c2a"}
# Their answers come after the updates of earlier turns.
_REPLAYS = ("session/load", "session/resume")
# What the tap itself has recorded begins so.
_TAP = "acp-bindings tap: "
# The rules of docs/project/protocol-rules.md, by the code of the error.
_RULES = {-32700: 3, -32600: 4, -32601: 11, -32602: 12}


def analyse(name: str, recording: Iterable[Recorded]) -> Analysis:
    """Return what a recording says, and what is wrong with it."""
    analyser = _Analyser()
    messages: dict[int, Any] = {}
    for recorded in recording:
        messages[recorded.number] = recorded.message if recorded.line is None else recorded.line
        analyser.add(recorded)
    analyser.end()
    rows = sorted((row for row in analyser.rows if row.lines), key=lambda row: row.lines[0])
    return Analysis(name, rows, messages, analyser.client, analyser.agent)


@dataclass(eq=False)
class _Session:
    """What is known of a session.

    Attributes:
        timeline: its updates, since it was created or loaded.
        entries: the rows of messages and tool calls, by their places in the timeline.
        newest: the row of the newest tool call or compaction with each id.
        turns: how many turns it had.
        turn: the turn that runs.
        replay: the call that loads the session.
        cancelled: the line of the notification that cancels the turn that runs; 0 if there is none.
        states: the row of each kind of update that sets values, in the turn that runs or since the last one.
    """

    timeline: Timeline = field(default_factory=Timeline)
    entries: dict[int, Row] = field(default_factory=dict[int, Row])
    newest: dict[tuple[str, str], Row] = field(default_factory=dict[tuple[str, str], Row])
    turns: int = 0
    turn: Row | None = None
    replay: Row | None = None
    cancelled: int = 0
    states: dict[str, Row] = field(default_factory=dict[str, Row])


class _Analyser:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.client = self.agent = ""
        self._begin()

    def _begin(self) -> None:
        """Begin with a connection. A file may have several, one after the other."""
        self._pending: dict[tuple[Direction, str], tuple[Row, dict[str, Any]]] = {}
        self._used: dict[tuple[Direction, str], int] = {}
        self._sessions: dict[str, _Session] = {}

    def add(self, recorded: Recorded) -> None:
        """Add the next line of the recording."""
        message = fields_of(recorded.message)
        if recorded.direction == "stderr":
            row = self._row("text", recorded, title=recorded.line or "")
            if row.title.startswith(_TAP) and not row.title.endswith(" of the client"):
                row.problems.append((recorded.number, row.title.removeprefix(_TAP)))
        elif isinstance(message.get("method"), str):
            self._add_call(recorded, message)
        elif "result" in message or "error" in message:
            self._add_answer(recorded, message)
        else:
            row = self._row("text", recorded, title=recorded.line or json.dumps(recorded.message))
            self._check(row, recorded)

    def end(self) -> None:
        """End the connection: what has no answer now gets none."""
        for row, _ in self._pending.values():
            row.outcome = "no answer"
            row.problems.append((row.lines[0], f"{row.method} has no answer"))
        for session in self._sessions.values():
            self._end_entries(session)

    def _add_call(self, recorded: Recorded, message: dict[str, Any]) -> None:
        method: str = message["method"]
        if method == "initialize" and recorded.direction == "c2a" and self.rows:
            self.end()
            self._begin()
        params = fields_of(message.get("params"))
        name = params.get("sessionId")
        name = name if isinstance(name, str) else ""
        session = self._session(name)
        if method == "session/update" and recorded.direction == "a2c":
            self._add_update(recorded, params, name, session)
            return
        row = self._row("call" if "id" in message else "notification", recorded, method, about_call(method, params))
        self._put(row, name, session)
        checked = self._check(row, recorded)
        if "id" in message:
            self._note_request(row, message["id"], params)
        if method == "initialize":
            self.client = name_of(params.get("clientInfo"))
        elif method == "session/prompt" and recorded.direction == "c2a":
            self._begin_turn(row, session)
        elif method in _REPLAYS:
            self._end_entries(session)
            session.timeline, session.entries, session.newest, session.states = Timeline(), {}, {}, {}
            session.replay = row
        elif method == "session/cancel" and session.turn is not None:
            session.cancelled = recorded.number
        elif method == "session/request_permission" and checked.value is not None:
            self._apply(recorded, checked.value.tool_call, name, session)
            row.title = session.timeline.tool_calls[checked.value.tool_call.tool_call_id].title or row.title

    def _session(self, name: str) -> _Session:
        """Return what is known of a session. What comes before a fork is answered may be the replay of its result."""
        if not name:
            return _Session()
        if name not in self._sessions:
            forks = [row for row, _ in self._pending.values() if row.method == "session/fork"]
            self._sessions[name] = _Session(replay=forks[0] if forks else None)
        return self._sessions[name]

    def _note_request(self, row: Row, id: Any, params: dict[str, Any]) -> None:
        key = (row.direction, json.dumps(id))
        number = row.lines[0]
        if key in self._pending:
            before, _ = self._pending[key]
            problem = f"the id {key[1]} is used again before line {before.lines[0]} is answered (rule 8)"
            row.problems.append((number, problem))
        elif key in self._used:
            row.notes.append((number, f"the id {key[1]} is used again, after line {self._used[key]}"))
        self._pending[key], self._used[key] = (row, params), number

    def _add_answer(self, recorded: Recorded, message: dict[str, Any]) -> None:
        key = (_BACK[recorded.direction], json.dumps(message.get("id")))
        call = self._pending.pop(key, None)
        if call is None:
            self._add_stray_answer(recorded, message, key)
            return
        row, params = call
        row.lines.append(recorded.number)
        row.end = recorded.time
        self._check(row, recorded, row.method)
        result = fields_of(message.get("result"))
        row.is_error = "error" in message
        row.outcome = about_error(message["error"]) if row.is_error else about_result(result, params)
        if row.method == "initialize":
            self.agent = name_of(result.get("agentInfo"))
        elif row.method == "session/new":
            row.session = str(result.get("sessionId", ""))
        for session in self._sessions.values():
            if session.replay is row:
                session.timeline.end_message()
                session.replay = None
            if session.turn is row:
                self._end_turn(row, session)

    def _add_stray_answer(self, recorded: Recorded, message: dict[str, Any], key: tuple[Direction, str]) -> None:
        row = self._row("notification", recorded, "answer", f"id {key[1]}")
        row.is_error = "error" in message
        row.outcome = about_error(message["error"]) if row.is_error else about_result(message.get("result"), {})
        if key[1] == "null" and row.is_error:
            problem = "the answer to a line that could not be read"
        elif key in self._used:
            problem = f"another answer to line {self._used[key]} (rule 8)"
        else:
            problem = f"an answer to no request: no request has the id {key[1]} (rule 8)"
        row.problems.append((recorded.number, problem))

    def _begin_turn(self, row: Row, session: _Session) -> None:
        if session.turn is not None:
            row.problems.append((row.lines[0], f"the turn of line {session.turn.lines[0]} still runs"))
        session.timeline.end_message()
        session.states.clear()
        session.turns += 1
        session.turn, session.cancelled, row.turn = row, 0, session.turns

    def _end_turn(self, row: Row, session: _Session) -> None:
        number = row.lines[-1]
        was_cancelled = row.outcome == "cancelled"
        if session.cancelled and not was_cancelled:
            row.problems.append((number, f"cancelled by line {session.cancelled}, but the answer is {row.outcome}"))
        for place, call in session.entries.items():
            entry = session.timeline.entries[place]
            if call.turn == row.turn and call.kind == "tool" and call.lines and not (has_ended(entry) or was_cancelled):
                problem = f"the turn ends, and the tool call of line {call.lines[0]} is {entry.status or 'pending'}"
                row.problems.append((number, problem))
        session.timeline.end_message()
        session.states.clear()
        session.turn = None

    def _end_entries(self, session: _Session) -> None:
        """Give the rows of messages and tool calls what their updates amount to."""
        session.timeline.end_message()
        for place, row in session.entries.items():
            entry = session.timeline.entries[place]
            if isinstance(entry, Message):
                row.title = entry.text or " ".join(f"[{block.type}]" for block in entry.content)
            else:
                row.title, row.outcome = getattr(entry, "title", ""), entry.status or "pending"
                row.method = getattr(entry, "kind", None) or row.method

    def _add_update(self, recorded: Recorded, params: dict[str, Any], name: str, session: _Session) -> None:
        given = fields_of(params.get("update"))
        tag = given.get("sessionUpdate")
        checked = self._check(None, recorded)
        update = None if checked.value is None else checked.value.update
        effect = TABLE.get(tag_of(update)) if update is not None else None
        if isinstance(effect, Says | Changes):
            row = self._apply(recorded, update, name, session)
            if session.turn is None and session.replay is None:
                problem = f"{tag} outside of a turn"
                if not any(text == problem for _, text in row.problems):
                    row.problems.append((recorded.number, problem))
        elif effect is not None and tag in session.states:
            row = session.states[tag]
            self._extend(row, recorded)
            row.title = about_state(given)
        else:
            row = self._row("state", recorded, str(tag or "session/update"), about_state(given))
            self._put(row, name, session)
            if effect is not None:
                session.states[row.method] = row
        if checked.fault:
            row.problems.append((recorded.number, checked.fault))

    def _apply(self, recorded: Recorded, update: Any, name: str, session: _Session) -> Row:
        """Apply an update, or the tool call of a permission request. Return the row of the entry it adds to."""
        timeline, key, tag = session.timeline, key_of(update), tag_of(update)
        count, before = len(timeline.entries), session.newest.get(key) if key else None
        timeline.apply(update)
        is_new = len(timeline.entries) > count
        place = timeline.open_place if key is None else next(reversed(timeline.entries))
        assert place is not None
        row = session.entries.get(place) if before is None or is_new else before
        if row is None:
            effect = TABLE[tag]
            if isinstance(effect, Says):
                row = self._row("message", recorded, effect.role)
            else:
                row = self._row("tool", recorded, "" if key is None or key[0] == "tool_call_id" else "compaction")
            row.lines.clear()
            self._put(row, name, session)
            session.entries[place] = row
        if key is not None:
            session.newest[key] = row
        if tag == PERMISSION:
            return row
        self._extend(row, recorded)
        number = recorded.number
        if key and tag == "tool_call" and before is not None and before.lines and session.replay is None:
            if is_new:
                row.problems.append(
                    (number, f"the id {key[1]} is used again, after the tool call of line {before.lines[0]}")
                )
            else:
                row.notes.append((number, f"the tool call {key[1]} runs already, since line {before.lines[0]}"))
        elif key and tag == "tool_call_update" and before is None:
            row.problems.append((number, f"a tool_call_update, but no tool call has the id {key[1]}"))
        return row

    def _check(self, row: Row | None, recorded: Recorded, call: str = "") -> CheckedLine:
        """Check a line in version 1, then in v1_unstable. Add what is refused to the row."""
        text = json.dumps(recorded.message) if recorded.line is None else recorded.line
        line = text.encode(errors="backslashreplace")
        stable, draft = _SIDES[recorded.direction]
        checked = check_line(stable, line, call)
        if checked.fault:
            rule = 9 if checked.kind == "response" else _RULES.get(checked.code or -32602, 12)
            code = f"{checked.code}, " if checked.code else ""
            other = check_line(draft, line, call)
            where = ", v1_unstable accepts it" if not other.fault else ""
            checked = CheckedLine(
                checked.kind, other.value, checked.code, f"{checked.fault} ({code}rule {rule}{where})"
            )
            if row is not None:
                row.problems.append((recorded.number, checked.fault))
        return checked

    def _row(self, kind: Kind, recorded: Recorded, method: str = "", title: str = "") -> Row:
        time = recorded.time
        row = Row(kind, recorded.direction, [recorded.number], time, time, method, title)
        self.rows.append(row)
        return row

    def _put(self, row: Row, name: str, session: _Session) -> None:
        row.session, row.turn = name, session.turn.turn if session.turn else 0
        row.is_replay = session.replay is not None

    def _extend(self, row: Row, recorded: Recorded) -> None:
        row.lines.append(recorded.number)
        row.end = recorded.time
