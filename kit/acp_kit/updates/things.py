"""Merges updates in which everything has an id, so that an update changes a message or a thing where it began.

This is how version 2 works. Version 1 has messages without ids, and ids that are used again: see `timeline`.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from acp_kit.common.texts import join_texts
from acp_kit.updates.fields import given_values
from acp_runtime import OpenModel
from acp_runtime.updates import AddsTo, Changes, Effect, Removes, Says, Sets

Key: TypeAlias = tuple[str, str]
"""The role of a message, or what a thing is, and the id."""

_PLAIN_TEXT_FIELDS: Final = {"type", "text"}


def is_plain_text(block: Any) -> bool:
    """Whether a block is a text without annotations and `_meta`. Adjacent ones can be one block."""
    fields = getattr(block, "__pydantic_fields_set__", None)
    # A type of content that the schema doesn't know may have the same keys.
    return fields == _PLAIN_TEXT_FIELDS and not isinstance(block, OpenModel)


class Pieces:
    """What was appended to a message or to a field of a thing. Adding a piece takes time proportional to its size."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []
        # The texts of the last block, if it has only text, and consists of pieces.
        self._texts: list[str] = []

    def add(self, block: Any) -> None:
        """Add a block of content. Adjacent texts without annotations or `_meta` are one block."""
        is_plain = is_plain_text(block)
        if is_plain and self._texts:
            self._texts.append(block.text)
            return
        self._join()
        self._blocks.append(block)
        self._texts = [block.text] if is_plain else []

    def replace(self, blocks: Any) -> None:
        """Replace everything with these blocks; None removes everything."""
        self._blocks = list(blocks or ())
        self._texts = []

    def value(self) -> tuple[Any, ...]:
        """Return the blocks."""
        self._join()
        return tuple(self._blocks)

    def _join(self) -> None:
        if len(self._texts) > 1:
            self._texts = [join_texts(self._texts)]
            self._blocks[-1] = self._blocks[-1].model_copy(update={"text": self._texts[0]})


class Bytes:
    """Bytes that come in pieces, each encoded alone."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: str) -> None:
        """Append a piece of base64."""
        self._bytes += b64decode(data, validate=True)

    def replace(self, data: str | None) -> None:
        """Replace everything with base64; None removes everything."""
        self._bytes = bytearray(b64decode(data or "", validate=True))

    def value(self) -> bytes:
        """Return all bytes."""
        return bytes(self._bytes)


@dataclass(eq=False)
class Thing:
    """A message or a thing of a session.

    Attributes:
        key: its key.
        began_with: the update that began it.
        pieces: what updates append to; None if they append nothing to such a thing.
        fields: the other fields, except the id. None stands for a cleared one.
        view: what snapshots show of it; None if that must be made again.
    """

    key: Key
    began_with: Any
    pieces: Pieces | Bytes | None
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    view: Any = None


class Things:
    """The messages, things, values and lists of a session.

    Attributes:
        things: messages and things by key, in the order in which they began.
        settings: the last update of each kind that sets values, by tag. What a later one lacks is kept.
        lists: the updates in each list.

    Args:
        table: what each kind of update does, by its tag.
    """

    def __init__(self, table: Mapping[str, Effect]) -> None:
        self.things: dict[Key, Thing] = {}
        self.settings: dict[str, Any] = {}
        self.lists: dict[str, list[Any]] = {}
        self._table = table
        self._id_of: dict[str, Callable[[Any], str]] = {
            kind: attrgetter(effect.id)
            for kind, effect in table.items()
            if isinstance(effect, Says | Changes | Removes)
        }
        # The path of the field that updates append to, and whether it is bytes, by the kind of thing.
        self._appended = {
            effect.thing: (effect.to, effect.is_base64)
            for effect in table.values()
            if isinstance(effect, Changes) and effect.appends
        }

    def apply(self, kind: str, update: Any) -> None:
        """Apply an update of a kind. It does nothing if the table doesn't have the kind.

        Raises:
            ValueError: if bytes are not base64.
        """
        match self._table.get(kind):
            case Says() as effect:
                self._change((effect.role, self._id_of[kind](update)), effect, update, "content", is_base64=False)
            case Changes() as effect:
                to, is_base64 = self._appended.get(effect.thing, ("", False))
                self._change((effect.thing, self._id_of[kind](update)), effect, update, to, is_base64=is_base64)
            case Removes() as effect:
                self.things.pop((effect.thing, self._id_of[kind](update)), None)
            case Sets() as effect:
                self.settings[kind] = merge_settings(effect, self.settings.get(kind), update)
            case AddsTo() as effect:
                self.lists.setdefault(effect.name, []).append(update)
            case None:
                pass

    def _change(self, key: Key, effect: Says | Changes, update: Any, to: str, *, is_base64: bool) -> None:
        thing = self.things.get(key)
        if thing is None:
            thing = Thing(key, update, Bytes() if is_base64 else Pieces() if to else None)
        if effect.appends:
            assert thing.pieces is not None
            thing.pieces.add(getattr(update, effect.appends))
        else:
            _patch(thing, effect, update, to)
        thing.view = None
        self.things[key] = thing


def _patch(thing: Thing, effect: Says | Changes, update: Any, to: str) -> None:
    fields = given_values(update, without=("session_update", effect.id))
    if effect.null is None:
        thing.fields.clear()
        if thing.pieces is not None:
            thing.pieces.replace(None)
    elif effect.null == "keeps":
        fields = {name: value for name, value in fields.items() if value is not None}
    first, *path = to.split(".")
    if thing.pieces is not None and first in fields:
        appended_to = fields.pop(first)
        for step in path:
            appended_to = getattr(appended_to, step, None)
        thing.pieces.replace(appended_to)
    if "meta" in fields:
        fields["meta"] = _patched_meta(effect, thing.fields.get("meta"), fields["meta"])
    thing.fields |= fields


def _patched_meta(effect: Says | Changes | Sets, old: Any, new: Any) -> Any:
    if not effect.patches_meta or new is None:
        return new
    return {key: value for key, value in ((old or {}) | new).items() if value is not None}


def merge_settings(effect: Sets, last: Any, update: Any) -> Any:
    """Return an update that sets values, merged into the last one of its kind if it may lack some."""
    if effect.null is None:
        return update
    fields = given_values(update, without=("session_update",))
    if effect.null == "keeps":
        fields = {name: value for name, value in fields.items() if value is not None}
    if "meta" in fields:
        fields["meta"] = _patched_meta(effect, last and last.meta, fields["meta"])
    # Pydantic's own copy, because the values are valid already.
    return BaseModel.model_copy(last or update, update=fields)
