"""Analyses a recording: joins calls with responses, merges updates, and finds problems."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from acp_kit.common.json_values import member, members_of
from acp_kit.recording.file_format import OPPOSITE, Direction, Recorded, wire_line
from acp_kit.tap.row import Kind, Row
from acp_kit.tap.session import RecordedSession
from acp_kit.tap.summaries import summarise, summarise_response
from acp_kit.tap.version_2 import Version2Rows
from acp_kit.updates.entries import key_of
from acp_kit.updates.merging import has_ended
from acp_kit.updates.messages import Message
from acp_kit.updates.table import PERMISSION, TABLE, tag_of
from acp_runtime.jsonrpc import check_line
from acp_runtime.updates import Changes, Says

# The profiles of each version: the one that a message should fit, and the one of its drafts.
_PROFILES = {1: ("v1", "v1_unstable"), 2: ("v2_draft", "v2_draft_unstable")}
# The start of the tap's own lines in a recording of stderr.
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
class _Connection:
    """One connection. A recording may have several, one after the other.

    Attributes:
        version: the version of the protocol: 1 until the response to `initialize`, and if it is unknown.
        pending: the rows and the params of requests without a response, by direction and id.
        request_lines: the line of the last request with each direction and id.
        sessions: the sessions, by id.
        fork: the last call that forks a session.
    """

    version: int = 1
    pending: dict[tuple[str, str], tuple[Row, dict[str, Any]]] = field(default_factory=dict[Any, Any])
    request_lines: dict[tuple[str, str], int] = field(default_factory=dict[Any, int])
    sessions: dict[str, RecordedSession] = field(default_factory=dict[str, RecordedSession])
    fork: Row | None = None


def _known_version(members: dict[str, Any]) -> int:
    version = members.get("protocolVersion")
    return 2 if version == 2 else 1


@cache
def _receiver(profile: str, direction: Direction) -> Any:
    """Return the side of a profile that receives the messages of a direction."""
    connecting = import_module(f"acp_bindings.{profile}.connecting")
    return connecting.AGENT_SIDE if direction == "c2a" else connecting.CLIENT_SIDE


class _Analyser:
    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._entries: dict[Row, Any] = {}  # the entries of the timeline that rows show
        self._problems: defaultdict[Row, set[str]] = defaultdict(set)
        self._connection = _Connection()
        self._version_2 = Version2Rows(self._new_row, self._add_problem)

    def add(self, line: Recorded) -> None:
        """Add the next line of the recording to a row."""
        self._line = line
        message = members_of(line.message)
        method = message.get("method")
        params = members_of(message, "params")
        if line.direction == "stderr":
            row = self._new_row("text", title=line.line or "")
            self._add_problem(row, row.title.partition(_TAP)[2])
        elif method == "session/update" and line.direction == "a2c":
            row = self._add_update(params)
        elif isinstance(method, str):
            row = self._add_call(method, message, params)
        elif "result" in message or "error" in message:
            row = self._add_response(message)
        else:
            row = self._new_row("text", title=line.line or json.dumps(line.message))
            _, fault = self._check()
            self._add_problem(row, fault)
        row.add(line)

    def end(self) -> list[Row]:
        """Return the rows, with the final state of messages and tool calls, and with the missing responses."""
        for row, entry in self._entries.items():
            if isinstance(entry, Message):
                message = entry.latest()
                row.title = message.text or " ".join(f"[{block.type}]" for block in message.content)
            else:
                row.title = getattr(entry, "title", "")
                row.outcome = entry.status or "pending"
                row.method = getattr(entry, "kind", None) or row.method
        self._version_2.set_titles()
        for row in self._rows:
            if row.is_open and row.lines:
                row.outcome = "no answer"
                problem = f"{row.method} has no answer" if row.method != "session/update" else "the turn has no end"
                row.problems.append((row.lines[0], problem))
        return sorted((row for row in self._rows if row.lines), key=lambda row: row.lines[0])

    def _add_call(self, method: str, message: dict[str, Any], params: dict[str, Any]) -> Row:
        is_from_client = self._line.direction == "c2a"
        if method == "initialize" and is_from_client:
            self._connection = _Connection(_known_version(params))
        kind: Kind = "call"
        if "id" not in message:
            kind = "notification"
        elif method == "session/prompt" and is_from_client and self._connection.version == 1:
            kind = "turn"
        row = self._new_row(kind, method, summarise(params), str(params.get("sessionId", "")))
        session = self._session(row.session)
        value, fault = self._check()
        self._add_problem(row, fault)
        if kind != "notification":
            self._add_pending(row, message["id"], params)
        if kind == "turn":
            self._begin_turn(row, session)
        elif method == "session/fork":
            self._connection.fork = row
        elif method in ("session/load", "session/resume"):
            self._connection.sessions[row.session] = RecordedSession(row.session, row, session.turn)
        elif method == "session/cancel":
            session.cancel_line = self._line.number
        elif method == PERMISSION and value is not None and self._connection.version == 1:
            self._apply(session, value.tool_call)
            row.title = session.timeline.tool_calls[value.tool_call.tool_call_id].title or row.title
        return row

    def _add_pending(self, row: Row, id: Any, params: dict[str, Any]) -> None:
        connection = self._connection
        key = (row.direction, json.dumps(id))
        if key in connection.pending:
            earlier = connection.request_lines[key]
            self._add_problem(row, f"the id {key[1]} is used again before line {earlier} is answered (rule 8)")
        connection.pending[key] = (row, params)
        connection.request_lines[key] = self._line.number

    def _add_response(self, message: dict[str, Any]) -> Row:
        key = (OPPOSITE[self._line.direction], json.dumps(message.get("id")))
        row, params = self._connection.pending.pop(key, (None, dict[str, Any]()))
        if row is None:
            row = self._new_row("notification", "answer", f"id {key[1]}")
            if key in self._connection.request_lines:
                self._add_problem(row, f"another answer to line {self._connection.request_lines[key]} (rule 8)")
            else:
                self._add_problem(row, "an answer to no request, or to a line that could not be read (rule 8)")
        else:
            if row.method == "initialize" and "result" in message:
                self._connection.version = _known_version(members_of(message, "result"))
            _, fault = self._check(row.method)
            self._add_problem(row, fault)
        row.is_error = "error" in message
        row.outcome = summarise_response(message, params)
        if row.method == "session/new":
            row.session = str(member(message, "result", "sessionId") or "")
        if row.kind == "turn" and (session := self._session(row.session)).turn is row:
            self._end_turn(row, session)
        return row

    def _begin_turn(self, row: Row, session: RecordedSession) -> None:
        if session.running_turn is not None:
            self._add_problem(row, f"the turn of line {session.running_turn.lines[0]} still runs")
        session.timeline.end_message()
        row.turn = 1 if session.turn is None else session.turn.turn + 1
        session.turn = row
        session.cancel_line = 0

    def _end_turn(self, row: Row, session: RecordedSession) -> None:
        if row.outcome != "cancelled":
            if session.cancel_line:
                self._add_problem(row, f"cancelled by line {session.cancel_line}, but the answer is {row.outcome}")
            for position, call in session.tool_rows.items():
                entry = session.timeline.entries[position]
                if call.turn == row.turn and call.lines and not has_ended(entry):
                    status = entry.status or "pending"
                    self._add_problem(row, f"the turn ends, and the tool call of line {call.lines[0]} is {status}")
        session.tool_rows.clear()
        session.timeline.end_turn()

    def _add_update(self, params: dict[str, Any]) -> Row:
        session = self._session(str(params.get("sessionId", "")))
        value, fault = self._check()
        update = members_of(params, "update")
        tag = str(update.get("sessionUpdate", "session/update"))
        if self._connection.version == 2:
            row = self._version_2.add_update(session, tag, update)
        elif value is not None and isinstance(TABLE.get(tag), Says | Changes):
            row = self._apply(session, value.update)
            if session.running_turn is None and not session.is_replaying:
                self._add_problem(row, f"{tag} outside of a turn")
        else:
            row = self._row_of(session, (tag, session.turn, session.running_turn), "state", tag)
            row.title = summarise(update)
        self._add_problem(row, fault)
        return row

    def _apply(self, session: RecordedSession, update: Any) -> Row:
        """Apply an update, or the tool call of a permission request. Return the row of the entry that it changes."""
        tag = tag_of(update)
        key = key_of(update)
        earlier = None if key is None else session.rows.get(session.timeline.positions.get(key))
        position = session.timeline.apply(update)
        assert position is not None
        effect = TABLE[tag]
        if isinstance(effect, Says):
            row = self._row_of(session, position, "message", effect.role)
        else:
            row = self._row_of(session, position, "tool", "" if key is None or key[0] == "tool_call" else key[0])
            session.tool_rows[position] = row
            session.timeline.refresh()
        self._entries[row] = session.timeline.entries[position]
        if key is None:
            return row
        if tag == "tool_call_update" and earlier is None:
            self._add_problem(row, f"a tool_call_update, but no tool call has the id {key[1]}")
        is_start = tag == "tool_call" and not session.is_replaying
        if is_start and earlier is not None and earlier.lines and earlier is not row:
            line = earlier.lines[0]
            self._add_problem(row, f"the id {key[1]} is used again, after the tool call of line {line}")
        return row

    def _new_row(self, kind: Kind, method: str = "", title: str = "", session_id: str = "") -> Row:
        session = self._session(session_id)
        row = Row(
            kind,
            self._line.direction,
            method=method,
            title=title,
            session=session_id,
            turn=0 if session.running_turn is None else session.running_turn.turn,
            is_replay=session.is_replaying,
        )
        self._rows.append(row)
        return row

    def _row_of(self, session: RecordedSession, key: object, kind: Kind, method: str) -> Row:
        """Return the row that several updates share."""
        if key not in session.rows:
            session.rows[key] = self._new_row(kind, method, session_id=session.id)
        return session.rows[key]

    def _session(self, session_id: str) -> RecordedSession:
        """Return a session. An unknown one may be a replay, if a fork has no response yet."""
        sessions = self._connection.sessions
        if session_id not in sessions:
            fork = self._connection.fork
            sessions[session_id] = RecordedSession(session_id, fork if fork is not None and fork.is_open else None)
        return sessions[session_id]

    def _check(self, method: str = "") -> tuple[Any, str]:
        """Check the line against the profile of the version. If it is invalid, check it against the version's drafts.

        Return its params or result, and why it is invalid.

        Args:
            method: the method of the request, for a response.
        """
        line = wire_line(self._line)
        profile, draft = _PROFILES[self._connection.version]
        checked = check_line(_receiver(profile, self._line.direction), line, method)
        if not checked.fault:
            return checked.value, ""
        checked_as_draft = check_line(_receiver(draft, self._line.direction), line, method)
        rule = 9 if checked.kind == "response" else _RULES.get(checked.code or -32602, 12)
        code = f"{checked.code}, " if checked.code else ""
        note = "" if checked_as_draft.fault else f", {draft} accepts it"
        return checked_as_draft.value, f"{checked.fault} ({code}rule {rule}{note})"

    def _add_problem(self, row: Row, problem: str) -> None:
        """Add a problem of the line to a row, unless it is empty or the row has it."""
        if problem and problem not in self._problems[row]:
            self._problems[row].add(problem)
            row.problems.append((self._line.number, problem))
