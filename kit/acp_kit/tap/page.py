"""Shows an analysed recording as one page for a browser, which loads nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict
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
    values = {**asdict(row), "is_turn": row.is_turn}
    return {name: value for name, value in values.items() if value}
