"""JSON as it is on the wire: what pydantic-core reads and writes, without NaN and Infinity, with lone surrogates.

JavaScript escapes a lone surrogate (`"\\ud83d"`) when it has cut an emoji in two. That is JSON, but pydantic-core
refuses it. To be read, each such escape is replaced by a text that hides it, and the original is restored in what was
read. So the same schemas validate the message. Nothing happens to lines that pydantic-core can read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema, from_json

from acp_runtime.models.json_values import as_object

# Hides a character, with its code point as four digits. Unicode reserves it for the inside of programs. It hides
# itself as well, so that it can't be mistaken for a hidden character.
_MARK = "\ufdd0"
_MARK_UTF8 = _MARK.encode()
# An odd number of backslashes and a surrogate pair, which stays, or an escape to hide. Each alternative begins with a
# byte to search for, and no backslash is tried twice, so that long lines take little time.
_ESCAPES = (
    rb"\\(?<!\\\\)((?:\\\\)*+)u(?:([dD][89abAB]..\\u[dD][c-fC-F]..)|([dD][89a-fA-F][0-9a-fA-F]{2}|[fF][dD][dD]0))|%b"
) % _MARK_UTF8

# A line with a lone surrogate and more escapes than this is refused: each takes about half a microsecond, so that a
# megabyte of them would take fifty times as long as a megabyte of other escapes. Pairs count as one.
_MAX_ESCAPES = 10_000

_ATOMS: Any = frozenset({int, float, bool, type(None)})
_CONTAINERS: Any = (list, tuple, set, frozenset)

_N = ord("N")
# pydantic-core writes a lone surrogate in a key of a dict as three replacement characters, without an error.
_REPLACED = "\ufffd".encode() * 3
# pydantic's errors quote values, which must not get into logs.
_VALUE = r", input_value=.*(, input_type=)"

ANY = SchemaSerializer(core_schema.any_schema(), core_schema.CoreConfig(ser_json_inf_nan="constants"))
"""The serializer of values that have none of their own. It writes infinite numbers as such."""


def parse(line: bytes) -> Any:
    """Parse a line.

    Raises:
        ValueError: if it is not JSON, contains NaN or Infinity, or is nested too deeply.
    """
    return read(partial(from_json, allow_inf_nan=False), line)


def read(read_json: Callable[[bytes], Any], line: bytes) -> Any:
    """Read a line with a function that refuses lone surrogates. Raises what the function raises."""
    try:
        return read_json(line)
    except ValueError:
        hidden, escapes = re.subn(_ESCAPES, _hide, line, count=_MAX_ESCAPES) if has_surrogates(line) else (line, 0)
        if hidden == line or escapes == _MAX_ESCAPES:
            raise
    return _map(restore, read_json(hidden))


def has_surrogates(line: bytes) -> bool:
    """Whether a line may have escaped surrogates, lone or in pairs."""
    return b"\\ud" in line or b"\\uD" in line


def is_strict(line: bytes) -> bool:
    """Whether a line that pydantic-core reads or has written is free of NaN and Infinity."""
    # Fast pre-check: a one-byte scan rules out most lines, and `rfind` is fast because the first letters are rare.
    if not (_N in line and line.rfind(b"NaN") >= 0) and line.rfind(b"Infinity") < 0:
        return True
    try:
        parse(line)
    except ValueError:
        return False
    return True


def write(write_json: Callable[[Any], bytes], value: Any) -> bytes:
    """Write a value with a function that refuses lone surrogates; they are escaped.

    Raises:
        PydanticSerializationError: if it can't be written as JSON, or is a model with a field of the wrong type.
    """
    try:
        try:
            line = write_json(value)
            if not has_replaced_keys(line):
                return line
        except ValueError as error:
            if "surrogates not allowed" not in str(error):
                raise
        return re.sub(b"%b([0-9a-f]{4})" % _MARK_UTF8, rb"\\u\1", write_json(_map(_hide_in_text, value)))
    except (ValueError, RecursionError) as error:
        raise PydanticSerializationError(re.sub(_VALUE, r"\1", str(error))) from None


def has_replaced_keys(line: bytes) -> bool:
    """Whether a line that pydantic-core has written may have keys in which it replaced lone surrogates."""
    return line.rfind(_REPLACED) >= 0


def restore(text: str) -> str:
    """Return a text with its hidden characters."""
    if _MARK not in text:
        return text
    return re.sub(f"{_MARK}([0-9a-f]{{4}})", lambda hidden: chr(int(hidden[1], 16)), text)


def _hide(escape: re.Match[bytes]) -> bytes:
    backslashes, pair, code = escape.groups()
    return escape[0] if pair else b"%b%b%b" % (backslashes or b"", _MARK_UTF8, (code or b"fdd0").lower())


def _hide_in_text(text: str) -> str:
    if text.isascii():
        return text
    return re.sub(f"[\ud800-\udfff{_MARK}]", lambda match: f"{_MARK}{ord(match[0]):04x}", text)


def _map(change: Callable[[str], str], value: Any) -> Any:
    """Return a copy of a value with each text in it changed, keys of dicts and names of unknown fields included."""
    kind: Any = value.__class__
    if kind is str:
        return change(value)
    if kind in _ATOMS:
        return value
    members = as_object(value)
    if members is not None:
        return {_map(change, key): _map(change, item) for key, item in members.items()}
    if isinstance(value, _CONTAINERS):
        items = [item if item.__class__ in _ATOMS else _map(change, item) for item in value]
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    is_model = isinstance(value, BaseModel)
    if is_model or is_dataclass(kind):
        value = copy(value)
        model = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__")
        for name in model if is_model else [field.name for field in fields(value)]:
            object.__setattr__(value, name, _map(change, getattr(value, name)))
    return value
