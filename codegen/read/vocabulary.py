"""Checks that the generator knows every keyword of a schema, and that its value is well-formed.

This pass runs first and stops the generator at an unknown keyword or a malformed value, so that later passes need not
check for them. The later passes decide whether a keyword is allowed in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from codegen.errors import SchemaError
from codegen.nodes import escape, is_array, is_object

Json: TypeAlias = Any
Check = Callable[[Json], bool]


def check_vocabulary(schema: Json, pointer: str = "") -> None:
    """Check every keyword of a schema and of the schemas in it."""
    if not is_object(schema):
        raise SchemaError(pointer, f"Expected a schema object, found {type(schema).__name__}.")
    for keyword, value in schema.items():
        place = f"{pointer}/{escape(keyword)}"
        if keyword not in _KEYWORDS:
            raise SchemaError(place, f"The keyword {keyword!r} has no rule.")
        expected, holds = _KEYWORDS[keyword]
        if not holds(value):
            raise SchemaError(place, f"Expected {expected} here, found {_shown(value)}.")
        for token, inner in _inner(keyword, value):
            check_vocabulary(inner, place + token)
    if "anyOf" in schema and "oneOf" in schema:
        raise SchemaError(pointer, "There is no rule for `anyOf` beside `oneOf`.")


def _inner(keyword: str, value: Json) -> list[tuple[str, Json]]:
    """Return the schemas that a keyword holds, each with the rest of its pointer."""
    if keyword in _ONE_SCHEMA and is_object(value):
        return [("", value)]
    if keyword in _SCHEMAS and is_array(value):
        return [(f"/{index}", each) for index, each in enumerate(value)]
    if keyword in _MAP and is_object(value):
        return [(f"/{escape(key)}", each) for key, each in value.items()]
    return []


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_size(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list(value: Json) -> bool:
    return is_array(value) and bool(value) and len({json.dumps(each, sort_keys=True) for each in value}) == len(value)


def _is_names(value: Json) -> bool:
    return _is_list(value) and all(map(_is_text, value))


def _is_discriminator(value: Json) -> bool:
    return is_object(value) and value.keys() == {"propertyName"} and _is_text(value["propertyName"])


def _is_flag_or_schema(value: Json) -> bool:
    return value is True or is_object(value)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


_SCHEMA = ("items", "not")
_FLAG_OR_SCHEMA = ("additionalProperties",)
_SCHEMAS = ("anyOf", "oneOf", "allOf")
_MAP = ("properties", "$defs")
_ONE_SCHEMA = (*_SCHEMA, *_FLAG_OR_SCHEMA)

_RULES: tuple[tuple[tuple[str, ...], str, Check], ...] = (
    (("$schema", "$ref", "title", "description", "format", "contentEncoding", "pattern"), "a string", _is_text),
    (("x-side", "x-method"), "a string", _is_text),
    (
        (
            "x-deserialize-default-on-error",
            "x-deserialize-default-on-null",
            "x-deserialize-skip-invalid-items",
            "x-docs-ignore",
            "unevaluatedProperties",
            "deprecated",
        ),
        "true or no such keyword",
        lambda value: value is True,
    ),
    (("minLength", "maxLength", "minItems", "maxItems"), "an integer of at least 0", _is_size),
    (("minimum", "maximum"), "a number", _is_number),
    (("type",), "the name of a type, or a list of different ones", lambda value: _is_text(value) or _is_names(value)),
    (("required",), "a list of different names", _is_names),
    (("enum",), "a list of different values", _is_list),
    (("const", "default"), "a value", lambda value: True),
    (("discriminator",), "an object with only `propertyName`", _is_discriminator),
    (_SCHEMA, "a schema", lambda value: isinstance(value, dict)),
    (_FLAG_OR_SCHEMA, "true or a schema", _is_flag_or_schema),
    (_SCHEMAS, "a list of different schemas", _is_list),
    (_MAP, "schemas by name", lambda value: isinstance(value, dict)),
)
_KEYWORDS: dict[str, tuple[str, Check]] = {
    keyword: (expected, holds) for keywords, expected, holds in _RULES for keyword in keywords
}
