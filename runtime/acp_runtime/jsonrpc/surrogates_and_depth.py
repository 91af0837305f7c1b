"""Validates and dumps JSON that pydantic-core can't handle: lone surrogates, and more than 200 levels of nesting.

Both are replaced by placeholders before pydantic-core validates or dumps a message, and restored afterwards. So such a
message is validated and dumped by the same schemas as any other.

In text, a lone surrogate becomes `_MARK` and its code point in hexadecimal. `_MARK` itself is escaped in the same way,
so that it can't be mistaken for a placeholder. An array or object at a depth of `_MAX_PLAIN_DEPTH` is set aside as a
part, and replaced by one that contains a single string: `_PART_PREFIX` and the number of the part.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import fields as fields_of, is_dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from acp_runtime.jsonrpc.tolerant import MAX_DEPTH
from acp_runtime.models.json_values import as_array, as_object

ModelT = TypeVar("ModelT", bound=BaseModel)

# The last private-use character.
_MARK: Final = "\U0010fffd"
_MARK_UTF8: Final = _MARK.encode()
_PART_PREFIX: Final = f"{_MARK}@"
_MAX_PLAIN_DEPTH: Final = 100

_CONTAINERS: Any = (tuple, set, frozenset)

_SPECIAL = re.compile(f"[\ud800-\udfff{_MARK}]")
_IN_TEXT = re.compile(f"{_MARK}([0-9a-f]{{6}})")
_IN_JSON = re.compile(rb'%b([0-9a-f]{6})|\["%b@([0-9]+)"\]|\{"%b@([0-9]+)":null\}' % ((_MARK_UTF8,) * 3))


def validate(validate_json: Callable[[bytes], Any], value: Any) -> Any:
    """Validate decoded JSON that may have lone surrogates and deep nesting.

    Args:
        validate_json: validates JSON that pydantic-core can read.
        value: the decoded JSON.

    Raises:
        ValidationError: if it is invalid. Its paths may contain placeholders; see `restored`.
    """
    placeholders = _Placeholders()
    return placeholders.restore(validate_json(to_json(placeholders.replace(value))))


def dump(value: Any, dump_json: Callable[[Any], bytes], level: int = 1) -> bytes:
    """Dump a model or any other value that may have lone surrogates and deep nesting.

    Args:
        value: the value to dump.
        dump_json: dumps a value that pydantic-core can write.
        level: how many arrays and objects of the message enclose the value: one for params and results.

    Raises:
        PydanticSerializationError: if it can't be written as JSON, or is nested too deeply.
    """
    placeholders = _Placeholders(level)
    lines = [dump_json(placeholders.replace(value))]
    # Dumping a part can set further parts aside, which are appended to the list during the loop.
    for part_level, part in placeholders.parts:
        placeholders.level = part_level
        lines.append(dump_json(placeholders.replace(part)))
    for number in range(len(lines) - 1, -1, -1):
        lines[number] = _IN_JSON.sub(lambda found: _original_json(found, lines), lines[number])
    return lines[0]


def restored(text: str) -> str:
    """Return a text with its placeholders replaced by the original characters."""
    return _IN_TEXT.sub(lambda found: chr(int(found[1], 16)), text) if _MARK in text else text


def _escape(text: str) -> str:
    return text if text.isascii() else _SPECIAL.sub(lambda found: f"{_MARK}{ord(found[0]):06x}", text)


def _original_json(found: re.Match[bytes], lines: list[bytes]) -> bytes:
    code, in_array, in_object = found.groups()
    if code is None:
        return lines[1 + int(in_array or in_object)]
    return _MARK_UTF8 if int(code, 16) == ord(_MARK) else rb"\u" + code[2:]


class _Placeholders:
    """The placeholders in one message.

    Attributes:
        parts: the arrays and objects that were set aside, each with its level of nesting.
        level: the level of nesting of the value that is being replaced.
    """

    def __init__(self, level: int = 1) -> None:
        self.parts: list[tuple[int, Any]] = []
        self.level = level

    def replace(self, value: Any, depth: int = 0) -> Any:
        """Return a copy with placeholders. Recurses through at most `_MAX_PLAIN_DEPTH` levels of arrays and objects."""
        if type(value) is str:
            return _escape(value)
        if isinstance(value, BaseModel):
            return _change(copy(value), lambda each: self.replace(each, depth + 1), _escape)
        if value.__class__ is tuple:
            return tuple(self.replace(list(value), depth))
        fields, items = as_object(value), as_array(value)
        is_deep = depth >= _MAX_PLAIN_DEPTH or self.level + depth >= MAX_DEPTH
        if fields is not None:
            return {self._set_aside(fields, depth): None} if is_deep else self._replace_fields(fields, depth)
        if items is not None:
            return [self._set_aside(items, depth)] if is_deep else [self.replace(each, depth + 1) for each in items]
        return value

    def _replace_fields(self, fields: dict[str, Any], depth: int) -> dict[str, Any]:
        return {self.replace(key): self.replace(each, depth + 1) for key, each in fields.items()}

    def restore(self, value: Any) -> Any:
        """Restore the originals in a validated value. Models are changed in place."""
        if type(value) is str:
            return restored(value)
        if isinstance(value, BaseModel):
            return _change(value, self.restore, restored)
        items, fields = as_array(value), as_object(value)
        if items is not None:
            part = self._part_of(items)
            return [self.restore(each) for each in items] if part is None else part
        if fields is not None:
            part = self._part_of(fields)
            return {self.restore(key): self.restore(each) for key, each in fields.items()} if part is None else part
        return self._restore_others(value)

    def _restore_others(self, value: Any) -> Any:
        """Restore the originals in values that only types of an application have."""
        if is_dataclass(value):
            for field in fields_of(value):
                object.__setattr__(value, field.name, self.restore(getattr(value, field.name)))
        elif isinstance(value, _CONTAINERS):
            items = [self.restore(each) for each in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return value

    def _set_aside(self, part: Any, depth: int) -> str:
        level = self.level + depth
        if level >= MAX_DEPTH:
            raise PydanticSerializationError(
                f"The value contains itself or is nested more than {MAX_DEPTH} levels deep"
            )
        self.parts.append((level, part))
        return f"{_PART_PREFIX}{len(self.parts) - 1}"

    def _part_of(self, container: list[Any] | dict[str, Any]) -> Any:
        """Return the part that a container stands for, or None if it is not a placeholder."""
        if len(container) != 1:
            return None
        (only,) = container
        found = type(only) is str and only.startswith(_PART_PREFIX)
        return self.parts[int(only.removeprefix(_PART_PREFIX))][1] if found else None


def _change(model: ModelT, change: Callable[[Any], Any], change_name: Callable[[str], str]) -> ModelT:
    """Change every value in a model, and the names of unknown fields."""
    fields = vars(model)
    for name, value in fields.items():
        fields[name] = change(value)
    extra = model.__pydantic_extra__
    if extra:
        renamed = {change_name(name): change(value) for name, value in extra.items()}
        object.__setattr__(model, "__pydantic_extra__", renamed)
        object.__setattr__(model, "__pydantic_fields_set__", {*map(change_name, model.model_fields_set)})
    return model
