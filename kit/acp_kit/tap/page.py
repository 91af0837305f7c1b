"""Shows an analysed recording as one page for a browser, which loads nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acp_kit.tap.rows import Analysis, Row

_TEMPLATE = Path(__file__).with_name("page.html")
_PLACE = "{{ recording }}"


def page(recording: Analysis) -> str:
    """Return the page. Redact the recording before, since the page has all its messages."""
    data = {
        "name": recording.name,
        "client": recording.client,
        "agent": recording.agent,
        "problems": recording.problems,
        "rows": [_row(row) for row in recording.rows],
        "messages": recording.messages,
    }
    # Neither can end the script that it stands in, nor is there a line separator: `json` escapes what isn't ASCII.
    embedded = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return _TEMPLATE.read_text("utf-8").replace(_PLACE, embedded)


def _row(row: Row) -> dict[str, Any]:
    values = {
        "kind": row.kind,
        "direction": row.direction,
        "lines": row.lines,
        "start": row.start,
        "end": row.end,
        "method": row.method,
        "title": row.title,
        "outcome": row.outcome,
        "session": row.session,
        "turn": row.turn,
        "isTurn": row.is_turn,
        "isReplay": row.is_replay,
        "isError": row.is_error,
        "problems": row.problems,
        "notes": row.notes,
    }
    return {name: value for name, value in values.items() if value}
