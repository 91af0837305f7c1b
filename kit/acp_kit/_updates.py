"""What each kind of update does. The one place where a new kind is entered.

Works with updates of `acp_bindings.v1` and of `v1_unstable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from pydantic import BaseModel

from acp_kit._profiles import like
from acp_runtime import ABSENT, Model

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class Says:
    """Adds to the last message if that has the same role and id, else begins one."""

    role: Role


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes the newest entry with its id, or adds one.

    Attributes:
        id: the field with the id.
        starts: whether it adds a new entry if the old one has ended.
        clears: whether null clears a field, instead of leaving it unchanged.
        adds_to: the field of the entry to which its content is added.
    """

    id: Literal["tool_call_id", "compaction_id"]
    starts: bool = False
    clears: bool = False
    adds_to: str | None = None


@dataclass(frozen=True, slots=True)
class Sets:
    """Replaces values of the state.

    Attributes:
        fields: the fields with the values, by the names of the values. The field "" is the update itself.
        patches: whether an absent field leaves its value unchanged.
    """

    fields: Mapping[str, str]
    patches: bool = False


@dataclass(frozen=True, slots=True)
class Notifies:
    """Adds to the notices. It is for who watches, and no part of a history."""


Effect: TypeAlias = Says | Changes | Sets | Notifies

PERMISSION: Final = "session/request_permission"
"""Stands for the tag of the tool call in a permission request, which has none."""

TABLE: Final[Mapping[str, Effect]] = {
    "user_message_chunk": Says("user"),
    "agent_message_chunk": Says("agent"),
    "agent_thought_chunk": Says("thought"),
    "tool_call": Changes("tool_call_id", starts=True),
    PERMISSION: Changes("tool_call_id", starts=True),
    "tool_call_update": Changes("tool_call_id"),
    "compaction_update": Changes("compaction_id", clears=True),
    "compaction_summary_chunk": Changes("compaction_id", adds_to="summary"),
    "plan": Sets({"plan": "entries"}),
    "current_mode_update": Sets({"current_mode_id": "current_mode_id"}),
    "config_option_update": Sets({"config_options": "config_options"}),
    "available_commands_update": Sets({"available_commands": "available_commands"}),
    "usage_update": Sets({"usage": ""}),
    "session_info_update": Sets({"title": "title", "updated_at": "updated_at"}, patches=True),
    "notice": Notifies(),
}
"""What each kind of update does, by its tag."""

# The class of a new entry, and its required fields if the first update doesn't have them.
_NEW: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "tool_call_id": ("SessionUpdateToolCall", {"title": ""}),
    "compaction_id": ("SessionUpdateCompactionUpdate", {"status": "in_progress"}),
}
_ENDED: Final = ("completed", "failed")
_IDENTIFYING: Final = frozenset(("session_update", *_NEW))

# The fields of a chunk without further information, and of its content.
_CHUNK: Final = {"session_update", "content", "message_id", "compaction_id"}
_TEXT: Final = {"type", "text"}


def tag_of(update: object) -> str:
    """Return the tag of an update, or `PERMISSION` for the tool call in a permission request."""
    return getattr(update, "session_update", PERMISSION)


def has_ended(entry: Any) -> bool:
    """Whether a tool call or a compaction has ended."""
    return entry.status in _ENDED


def apply_change(effect: Changes, entry: Any, update: Any) -> tuple[Any, bool]:
    """Return an entry after an update, and whether it is a new one.

    Args:
        effect: what the update does.
        entry: the newest entry with the id of the update; None if there is none.
        update: the update.
    """
    is_new = entry is None or (effect.starts and has_ended(entry))
    if is_new:
        from acp_bindings import v1

        name, defaults = _NEW[effect.id]
        cls: Any = like(update, getattr(v1, name))
        if isinstance(update, cls):
            return update, True
        entry = cls(**defaults, **{effect.id: getattr(update, effect.id)})
    if effect.adds_to is None:
        given = _given_values(update)
        # A start has to have a title, so an empty one says nothing.
        values = {name: value for name, value in given.items() if effect.clears or value is not None}
        if values.get("title") == "":
            del values["title"]
    else:
        values = {effect.adds_to: _append(getattr(entry, effect.adds_to) or (), update)}
    return _copy(entry, values), is_new


def latest(effect: Sets, old: Any, new: Any) -> Any:
    """Merge an update that sets values into the last one of its kind."""
    return _copy(old, _given_values(new)) if effect.patches and old is not None else new


def values_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that updates set, by name.

    Args:
        settings: the last update of each kind, by tag.
    """
    values: dict[str, Any] = {}
    for tag, update in settings.items():
        for name, field in cast("Sets", TABLE[tag]).fields.items():
            value: Any = getattr(update, field) if field else update
            values[name] = tuple(value) if value.__class__ is list else value
    return values


def plain_text(chunk: Any) -> str | None:
    """Return the text of a chunk, or None if the chunk has anything else, such as an image, annotations or `_meta`.

    Chunks of plain text can be merged without losing anything.
    """
    content = chunk.content
    is_plain = content.__pydantic_fields_set__ == _TEXT and chunk.__pydantic_fields_set__ <= _CHUNK
    return content.text if is_plain else None


def with_text(chunk: Any, text: str) -> Any:
    """Return a copy of a chunk of plain text with another text."""
    return chunk.model_copy(update={"content": chunk.content.model_copy(update={"text": text})})


def given_fields(model: Any) -> dict[str, Any]:
    """Return the fields of a model that aren't absent.

    Iterating over a model also gives the keys that the schema doesn't know, and a peer may name one like a field.
    """
    return {name: value for name, value in cast("dict[str, Any]", vars(model)).items() if value is not ABSENT}


def _given_values(update: Model) -> dict[str, Any]:
    """Return the given fields of an update but those that identify it, and the keys unknown to the schema."""
    fields = type(update).model_fields
    unknown = {name: value for name, value in (update.model_extra or {}).items() if name not in fields}
    return unknown | {name: value for name, value in given_fields(update).items() if name not in _IDENTIFYING}


def _copy(entry: Any, values: dict[str, Any]) -> Any:
    # Pydantic's own copy: the values are valid already, and keys unknown to the schema are added.
    return BaseModel.model_copy(entry, update=values) if values else entry


def _append(blocks: Sequence[Any], chunk: Any) -> list[Any]:
    """Return blocks of content with that of a chunk. Adjacent plain texts are one block."""
    last, text = blocks[-1] if blocks else None, plain_text(chunk)
    if text is None or last is None or last.__pydantic_fields_set__ != _TEXT:
        return [*blocks, chunk.content]
    return [*blocks[:-1], last.model_copy(update={"text": last.text + text})]
