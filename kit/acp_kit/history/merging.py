"""What an update does to a history, apart from where the history is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from acp_kit.updates import given_values, plain_text, with_text

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate

CHUNKS: Final = frozenset(
    ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "compaction_summary_chunk")
)
"""Tags of updates that continue a message, or a summary."""

TOOL_CALLS: Final = frozenset(("tool_call", "tool_call_update"))
"""Tags of updates of tool calls."""

SETTINGS: Final = frozenset(
    (
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    )
)
"""Tags of updates of which the last one counts."""

LIVE: Final = frozenset(("notice",))
"""Tags of updates that are no part of the history."""


def message_key(chunk: Any) -> str:
    """Return what adjacent chunks have in common if they belong to one message."""
    of_compaction = chunk.session_update == "compaction_summary_chunk"
    return json.dumps([chunk.session_update, chunk.compaction_id if of_compaction else chunk.message_id])


def merged(chunks: Iterable[SessionUpdate]) -> Sequence[SessionUpdate]:
    """Return the chunks of one message with adjacent ones of plain text merged."""
    result: list[SessionUpdate] = []
    for is_plain, group in groupby(chunks, lambda chunk: plain_text(chunk) is not None):
        together = list(group)
        if is_plain and len(together) > 1:
            result.append(with_text(together[0], "".join(map(_text, together))))
        else:
            result += together
    return result


def _text(chunk: Any) -> str:
    return plain_text(chunk) or ""


def latest(old: Any, new: Any) -> Any:
    """Return a setting after an update. Of session_info_update, absent fields keep their value."""
    if old is None or new.session_update != "session_info_update":
        return new
    # Pydantic's own copy: the values are valid already, and keys unknown to the schema are added.
    return BaseModel.model_copy(old, update=given_values(new, "session_update"))
