"""Shows the updates of version 2 as rows: a turn begins with the user's message and ends with the state `idle`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pydantic.alias_generators import to_camel

from acp_bindings.v2_draft_unstable.updates import UPDATES
from acp_kit.common.json_values import items_of, member, members_of
from acp_kit.common.texts import join_texts
from acp_kit.tap.row import Kind, Row
from acp_kit.tap.session import RecordedSession
from acp_kit.tap.summaries import summarise
from acp_runtime.updates import Changes, Removes, Says

_STATE = "state_update"


class _NewRow(Protocol):
    def __call__(self, kind: Kind, method: str = "", title: str = "", session_id: str = "") -> Row: ...


class Version2Rows:
    """Makes the rows of the updates of version 2.

    Args:
        new_row: adds a row for the line that is analysed.
        add_problem: adds a problem to a row.
    """

    def __init__(self, new_row: _NewRow, add_problem: Callable[[Row, str], None]) -> None:
        self._new_row = new_row
        self._add_problem = add_problem
        self._texts: dict[Row, list[str]] = {}  # of messages, and of turns

    def add_update(self, session: RecordedSession, tag: str, update: dict[str, Any]) -> Row:
        """Return the row of an update, with what the update changes."""
        effect = UPDATES.get(tag)
        if (
            isinstance(effect, Says)
            and effect.role == "user"
            and session.running_turn is None
            and not session.is_replaying
        ):
            return self._begin_turn(session, _id_in(update, effect.id), update)
        if isinstance(effect, Says):
            row = self._add_message(session, effect, update)
        elif isinstance(effect, (Changes, Removes)):
            row = self._add_thing(session, effect, update)
        elif tag == _STATE and update.get("state") == "idle" and session.running_turn is not None:
            row = session.running_turn
            self._end_turn(row, session, update)
        else:
            row = self._row_of(session, (tag, session.turn, session.running_turn), "state", tag)
            row.title = summarise(update)
        return row

    def set_titles(self) -> None:
        """Set the titles of messages and turns to their texts."""
        for row, texts in self._texts.items():
            row.title = join_texts(texts)

    def _add_message(self, session: RecordedSession, effect: Says, update: dict[str, Any]) -> Row:
        id = _id_in(update, effect.id)
        row = self._row_of(session, ("message", id), "message", effect.role)
        if (turn := session.rows.get(("turn", id))) is not None:
            self._texts[row] = self._texts.setdefault(turn, [])
        self._say(row, update)
        return row

    def _add_thing(self, session: RecordedSession, effect: Changes | Removes, update: dict[str, Any]) -> Row:
        """Return the row of a tool call, or of something else with an id. A plan has one in each turn."""
        id = _id_in(update, effect.id)
        is_replaced = isinstance(effect, Removes) or (effect.null is None and not effect.appends)
        key = (effect.thing, id, session.turn if is_replaced else None)
        if effect.thing == "tool_call":
            row = self._row_of(session, key, "tool", "")
        else:
            row = self._row_of(session, key, "state", f"{effect.thing} {id}")
        if isinstance(effect, Removes):
            row.outcome = "removed"
        elif not effect.appends:
            _change(row, effect.thing, update)
        return row

    def _begin_turn(self, session: RecordedSession, id: str, update: dict[str, Any]) -> Row:
        row = self._new_row("turn", "session/update", session_id=session.id)
        row.turn = 1 if session.turn is None else session.turn.turn + 1
        session.turn = row
        session.cancel_line = 0
        session.rows["turn", id] = row
        self._say(row, update)
        return row

    def _end_turn(self, row: Row, session: RecordedSession, update: dict[str, Any]) -> None:
        row.outcome = str(update.get("stopReason", "idle"))
        if session.cancel_line and row.outcome != "cancelled":
            self._add_problem(row, f"cancelled by line {session.cancel_line}, but the turn ends with {row.outcome}")

    def _row_of(self, session: RecordedSession, key: object, kind: Kind, method: str) -> Row:
        if key not in session.rows:
            session.rows[key] = self._new_row(kind, method, session_id=session.id)
        return session.rows[key]

    def _say(self, row: Row, update: dict[str, Any]) -> None:
        """Add the text of a chunk to a message, or replace the text of the message."""
        content = update.get("content")
        if isinstance(content, dict):
            self._texts.setdefault(row, []).append(_text_of(update["content"]))
        elif "content" in update:
            self._texts.setdefault(row, [])[:] = map(_text_of, items_of(content))


def _change(row: Row, thing: str, update: dict[str, Any]) -> None:
    """Set what an update has of a tool call, a plan or another thing. What it lacks stays."""
    if thing == "plan":
        row.title = summarise(update.get("plan"))
        return
    for name in ("title", "command"):
        if name in update:
            row.title = str(update[name] or "")
    if row.kind == "tool" and "kind" in update:
        row.method = str(update["kind"] or "")
    if "status" in update:
        row.outcome = str(update["status"] or "")
    if status := members_of(update, "exitStatus"):
        row.outcome = summarise(status)


def _id_in(update: dict[str, Any], path: str) -> str:
    """Return the id of a thing, at the path of a field in the table of updates."""
    return str(member(update, *map(to_camel, path.split("."))))


def _text_of(block: object) -> str:
    members = members_of(block)
    text = members.get("text")
    return text if isinstance(text, str) else f"[{members.get('type')}]"
