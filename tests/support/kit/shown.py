"""What a `SessionState` or a snapshot of it shows, as JSON, to compare it with `session_fold`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_kit.client import Message, SessionState, Snapshot
from tests.support.kit.session_updates import dump

Json = dict[str, Any]


def state_of(updates: Iterable[Any]) -> SessionState:
    state = SessionState()
    for update in updates:
        state.apply(update)
    return state


def shown(state: SessionState | Snapshot) -> Json:
    return {
        "timeline": [_entry(entry) for entry in state.timeline],
        "plan": [dump(entry) for entry in state.plan],
        "mode": state.current_mode_id,
        "options": [dump(option) for option in state.config_options],
        "commands": [dump(command) for command in state.available_commands],
        "usage": state.usage and _without_tag(dump(state.usage)),
        "title": state.title,
        "updated_at": state.updated_at,
        "notices": [_without_tag(dump(notice)) for notice in state.notices],
    }


def _entry(entry: Any) -> Json:
    if isinstance(entry, Message):
        content = [dump(part) for part in entry.content]
        return {"role": entry.role, "id": entry.message_id, "content": content, "text": entry.text}
    return _without_tag(dump(entry))


def _without_tag(update: Json) -> Json:
    return {key: value for key, value in update.items() if key != "sessionUpdate"}
