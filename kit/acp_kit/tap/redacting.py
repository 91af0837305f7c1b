"""Redacts recordings that are to be shared."""

from __future__ import annotations

import json

from acp_kit.recording import Recorded
from acp_kit.redaction import redact, redact_text


def redact_recorded(recorded: Recorded) -> Recorded:
    """Return a line of a recording without secrets.

    A line of a client or an agent that isn't JSON, but may be a part of a message, is replaced by a note.
    """
    if recorded.line is None:
        message = redact(json.dumps(recorded.message).encode(), to_share=True)
        return recorded._replace(message=json.loads(message))
    is_fragment = recorded.direction != "stderr" and not {'"', "{"}.isdisjoint(recorded.line)
    line = f"[{len(recorded.line)} characters]" if is_fragment else redact_text(recorded.line)
    return recorded._replace(line=line)
