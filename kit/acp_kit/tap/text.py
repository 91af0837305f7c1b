"""Shows an analysed recording in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from acp_kit.recording import Direction
from acp_kit.tap.rows import Analysis, Row
from acp_runtime.escaping import printable

_ARROWS: dict[Direction, str] = {"c2a": "->", "a2c": "<-", "stderr": "!!"}
_MAX_TITLE = 100
_MAX_PROBLEM = 400


def show(
    recording: Analysis, method: str | None = None, session: str | None = None, *, errors_only: bool = False
) -> Iterator[str]:
    """Yield the lines that show a recording. Control characters are escaped.

    Args:
        recording: the recording.
        method: only calls and notifications of this method; all updates have `session/update`.
        session: only the session whose id begins so.
        errors_only: only what is wrong, and calls that were answered with an error.
    """
    sessions = {row.session for row in recording.rows if row.session}
    turns = sum(row.is_turn for row in recording.rows)
    counts = [(len(recording.messages), "line"), (len(sessions), "session"), (turns, "turn")]
    counts.append((recording.problems, "problem"))
    summary = ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counts)
    yield f"{printable(recording.name)}: {summary}"
    yield f"client {printable(recording.client) or 'unknown'}, agent {printable(recording.agent) or 'unknown'}"
    begin = next((row.start for row in recording.rows if row.start is not None), 0.0)
    shown = ""
    for row in recording.rows:
        updates = row.kind in ("message", "tool", "state")
        if method and method != ("session/update" if updates else row.method):
            continue
        if session and not row.session.startswith(session):
            continue
        if errors_only and not (row.problems or row.is_error):
            continue
        if row.session and row.session != shown:
            yield f"session {printable(row.session)}"
            shown = row.session
        yield from _lines(row, begin)


def _lines(row: Row, begin: float) -> Iterator[str]:
    time = "" if row.start is None else f"{row.start - begin:.3f}"
    indent = "  " if (row.turn and not row.is_turn) or row.is_replay else ""
    if row.kind == "text":
        what = "stderr" if row.direction == "stderr" else "not a message"
    else:
        what = (
            f"turn {row.turn}" if row.is_turn else f"tool {row.method}".rstrip() if row.kind == "tool" else row.method
        )
    outcome = f" => {printable(row.outcome, _MAX_TITLE)}" if row.outcome else ""
    title = f": {printable(' '.join(row.title.split()), _MAX_TITLE)}" if row.title else ""
    yield f"{row.lines[0]:5} {time:>9} {indent}{_ARROWS[row.direction]} {what}{title}{outcome}{_extent(row)}".rstrip(
        ": "
    )
    for sign, remarks in (("PROBLEM", row.problems), ("note", row.notes)):
        for number, text in remarks:
            where = f"line {number}: " if number != row.lines[0] else ""
            yield f"{'':15} {indent}   {sign}: {where}{printable(text, _MAX_PROBLEM)}"


def _extent(row: Row) -> str:
    """Return how long a row took, and of how many updates it is made."""
    took = row.took
    parts = [] if took is None else [f"{took:.1f} s" if took >= 1 else f"{took * 1000:.1f} ms"]
    if row.kind in ("message", "tool", "state") and len(row.lines) > 1:
        parts.append(f"{len(row.lines)} updates")
    return f"  ({', '.join(parts)})" if parts else ""
