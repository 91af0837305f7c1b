"""JSON that pydantic-core neither reads nor writes: lone surrogates, and more than 200 levels of nesting.

Both are replaced by stand-ins that it takes, before it validates or dumps, and put back afterwards. So such a message
is validated and dumped by the same schemas as any other.

In text, a lone surrogate becomes `_MARK` and its code in hexadecimal; `_MARK` itself is written likewise, so nothing
is mistaken for a stand-in. An array or object at a depth of `_CUT` becomes one that holds a single text: `_CUT_OFF` and
a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from acp_runtime.jsonrpc.tolerant import MAX_DEPTH
from acp_runtime.models.json_values import as_array, as_object

ModelT = TypeVar("ModelT", bound=BaseModel)

# The last character for private use.
_MARK: Final = "\U0010fffd"
_MARK_UTF8: Final = _MARK.encode()
_CUT_OFF: Final = f"{_MARK}@"
_CUT: Final = 100

_SPECIAL = re.compile(f"[\ud800-\udfff{_MARK}]")
_IN_TEXT = re.compile(f"{_MARK}([0-9a-f]{{6}})")
_IN_JSON = re.compile(rb'%b([0-9a-f]{6})|\["%b@([0-9]+)"\]|\{"%b@([0-9]+)":null\}' % ((_MARK_UTF8,) * 3))


def validate(validate_json: Callable[[bytes], Any], value: Any) -> Any:
    """Validate decoded JSON, whatever its text and depth.

    Args:
        validate_json: validates JSON that pydantic-core can read.
        value: the decoded JSON.

    Raises:
        ValidationError: if it isn't valid. Its paths may have stand-ins, see `original`.
    """
    stand_ins = _StandIns()
    return stand_ins.put_back(validate_json(to_json(stand_ins.replace(value))))


def dump(value: Any, dump_json: Callable[[Any], bytes], level: int = 1) -> bytes:
    """Dump a model or anything else, whatever its text and depth.

    Args:
        value: what is to be dumped.
        dump_json: dumps what pydantic-core can write.
        level: how many arrays and objects of the message are round the value. Params and results stand in one.

    Raises:
        PydanticSerializationError: if it isn't JSON, or nested too deeply.
    """
    stand_ins = _StandIns(level)
    lines = [dump_json(stand_ins.replace(value))]
    # Dumping a part can cut off further ones, which are put behind it.
    for part_level, part in stand_ins.parts:
        stand_ins.level = part_level
        lines.append(dump_json(stand_ins.replace(part)))
    for number in range(len(lines) - 1, -1, -1):
        lines[number] = _IN_JSON.sub(lambda found: _written(found, lines), lines[number])
    return lines[0]


def original(text: str) -> str:
    """A text with its surrogates in place of their stand-ins."""
    return _IN_TEXT.sub(lambda found: chr(int(found[1], 16)), text) if _MARK in text else text


def _text(text: str) -> str:
    return text if text.isascii() else _SPECIAL.sub(lambda found: f"{_MARK}{ord(found[0]):06x}", text)


def _written(found: re.Match[bytes], lines: list[bytes]) -> bytes:
    code, in_array, in_object = found.groups()
    if code is None:
        return lines[1 + int(in_array or in_object)]
    return _MARK_UTF8 if int(code, 16) == ord(_MARK) else rb"\u" + code[2:]


class _StandIns:
    """What was replaced in one message.

    Attributes:
        parts: what was cut off, each with the level it stands at.
        level: that of the value that is being looked at.
    """

    def __init__(self, level: int = 1) -> None:
        self.parts: list[tuple[int, Any]] = []
        self.level = level

    def replace(self, value: Any, depth: int = 0) -> Any:
        """A copy with stand-ins. Recurses by at most `_CUT` levels of arrays and objects."""
        if type(value) is str:
            return _text(value)
        if isinstance(value, BaseModel):
            return _change(copy(value), lambda each: self.replace(each, depth + 1), _text)
        if value.__class__ is tuple:
            return tuple(self.replace(list(value), depth))
        fields, items = as_object(value), as_array(value)
        is_deep = depth >= _CUT or self.level + depth >= MAX_DEPTH
        if fields is not None:
            return {self._cut_off(fields, depth): None} if is_deep else self._replace_fields(fields, depth)
        if items is not None:
            return [self._cut_off(items, depth)] if is_deep else [self.replace(each, depth + 1) for each in items]
        return value

    def _replace_fields(self, fields: dict[str, Any], depth: int) -> dict[str, Any]:
        return {self.replace(key): self.replace(each, depth + 1) for key, each in fields.items()}

    def put_back(self, value: Any) -> Any:
        """The reverse, for what was validated. Models are changed in place."""
        if type(value) is str:
            return original(value)
        if isinstance(value, BaseModel):
            return _change(value, self.put_back, original)
        items, fields = as_array(value), as_object(value)
        if items is not None:
            part = self._cut_part(items)
            return [self.put_back(each) for each in items] if part is None else part
        if fields is not None:
            part = self._cut_part(fields)
            return {self.put_back(key): self.put_back(each) for key, each in fields.items()} if part is None else part
        return value

    def _cut_off(self, part: Any, depth: int) -> str:
        level = self.level + depth
        if level >= MAX_DEPTH:
            raise PydanticSerializationError(f"Nested more than {MAX_DEPTH} levels deep, or in itself")
        self.parts.append((level, part))
        return f"{_CUT_OFF}{len(self.parts) - 1}"

    def _cut_part(self, container: list[Any] | dict[str, Any]) -> Any:
        """What was cut off here; None if nothing was."""
        if len(container) != 1:
            return None
        (only,) = container
        found = type(only) is str and only.startswith(_CUT_OFF)
        return self.parts[int(only.removeprefix(_CUT_OFF))][1] if found else None


def _change(model: ModelT, change: Callable[[Any], Any], change_name: Callable[[str], str]) -> ModelT:
    """Change every value in a model, and the names that the schema doesn't know."""
    fields = vars(model)
    for name, value in fields.items():
        fields[name] = change(value)
    extra = model.__pydantic_extra__
    if extra:
        renamed = {change_name(name): change(value) for name, value in extra.items()}
        object.__setattr__(model, "__pydantic_extra__", renamed)
        object.__setattr__(model, "__pydantic_fields_set__", {*map(change_name, model.model_fields_set)})
    return model
