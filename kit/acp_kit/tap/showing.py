"""Shows an analysed recording in a terminal, or as a page for a browser, in one file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from acp_kit.recording.file_format import Direction, Recorded, with_infinite_numbers
from acp_kit.tap.analysis import analyse
from acp_kit.tap.row import Row
from acp_runtime.escaping import printable

_ARROWS: dict[Direction, str] = {"c2a": "->", "a2c": "<-", "stderr": "!!"}
_MAX_TITLE = 100
_MAX_PROBLEM = 400
_PAGE = Path(__file__).with_name("page.html")


def make_page(name: str, recording: Sequence[Recorded]) -> str:
    """Return a page that shows a recording. It has all messages, so redact the recording first."""
    rows = [{field: value for field, value in vars(row).items() if value} for row in analyse(recording)]
    messages = {entry.number: entry.message if entry.line is None else entry.line for entry in recording}
    content = json.dumps({"name": name, "rows": rows, "messages": messages}, separators=(",", ":"))
    data = with_infinite_numbers(content.encode()).decode()
    # Without "<", texts can't end the script element. `json` escapes the line separators of JavaScript.
    return _PAGE.read_text("utf-8").replace("{{ recording }}", data.replace("<", "\\u003c"))


def show(
    name: str, rows: Sequence[Row], method: str | None = None, session: str = "", *, errors_only: bool = False
) -> Iterator[str]:
    """Yield the lines that show a recording, with control characters escaped in everything that it contains.

    Args:
        name: the name of the file.
        rows: the rows.
        method: only calls and notifications of this method; for updates, `session/update`.
        session: only sessions whose ids begin with this.
        errors_only: only rows with problems, and calls with errors as responses.
    """
    for line in _show(name, rows, method, session, errors_only=errors_only):
        yield printable(line, sys.maxsize)


def _show(name: str, rows: Sequence[Row], method: str | None, session: str, *, errors_only: bool) -> Iterator[str]:
    counts = {
        "line": sum(len(row.lines) for row in rows),
        "session": len({row.session for row in rows if row.session}),
        "turn": sum(row.kind == "turn" for row in rows),
        "problem": sum(len(row.problems) for row in rows),
    }
    summary = ", ".join(f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items())
    yield f"{name}: {summary}"
    first_time = next((row.start for row in rows if row.start is not None), 0.0)
    shown_session = ""
    for row in rows:
        has_method = method in (None, "session/update" if row.is_update else row.method)
        if not has_method or not row.session.startswith(session) or (errors_only and not row.is_wrong):
            continue
        if row.session and row.session != shown_session:
            yield f"session {_shorten(row.session)}"
            shown_session = row.session
        time = "" if row.start is None else f"{row.start - first_time:.3f}"
        indent = "  " if (row.turn and row.kind != "turn") or row.is_replay else ""
        title = f": {_shorten(' '.join(row.title.split()))}" if row.title else ""
        outcome = f" => {_shorten(row.outcome)}" if row.outcome else ""
        start = f"{row.lines[0]:5} {time:>9} {indent}{_ARROWS[row.direction]} {_make_label(row)}"
        yield f"{start}{title}{outcome}{_duration_and_count(row)}".rstrip(": ")
        for number, text in row.problems:
            where = f"line {number}: " if number != row.lines[0] else ""
            yield f"{'':15} {indent}   PROBLEM: {where}{_shorten(text, _MAX_PROBLEM)}"


def _shorten(text: str, limit: int = _MAX_TITLE) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


def _make_label(row: Row) -> str:
    if row.kind == "text":
        return "stderr" if row.direction == "stderr" else "not a message"
    if row.kind == "turn":
        return f"turn {row.turn}"
    method = _shorten(row.method)
    return f"tool {method}".rstrip() if row.kind == "tool" else method


def _duration_and_count(row: Row) -> str:
    """Return the duration of a row, and the number of its updates."""
    if len(row.lines) < 2:
        return ""
    parts = [f"{len(row.lines)} updates"] if row.is_update else []
    if row.start is not None and row.end is not None:
        seconds = row.end - row.start
        parts.insert(0, f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms")
    return f"  ({', '.join(parts)})" if parts else ""
