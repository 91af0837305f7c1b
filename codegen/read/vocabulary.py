"""The keywords of a schema: brings it into the form that the other passes read, and checks it.

`canonical` drops or rewrites only what restricts no value: keywords that only annotate, and formats that the bindings
don't check, become part of the description. Unsafe characters are escaped, and `true`, the schema of any JSON, becomes
an empty object.

`check_vocabulary` then stops the generator at an unknown keyword or a malformed value, so that the other passes need
not check for them. They decide whether a keyword is allowed in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from codegen.errors import SchemaError
from codegen.escaping import code, escape_unsafe
from codegen.nodes import escape, is_array, is_object
from codegen.types import FORMATS

Json: TypeAlias = Any
Check = Callable[[Json], bool]

# What the description says about something deprecated. The keyword stays, because it is part of the IR, too.
DEPRECATED = "Deprecated."
# Keywords that hold data, schemas by name, lists of schemas, and one schema.
_DATA, _MAPS = ("const", "default", "enum", "pattern", "examples"), ("properties", "$defs")
_LISTS, _SCHEMA = ("anyOf", "oneOf", "allOf"), ("items", "not")
# The formats and encodings that have a type.
_KNOWN = {"format": FORMATS.keys() - {"base64"}, "contentEncoding": {"base64"}}
# What descriptions say about keywords that would restrict values: flags, and texts that follow.
_FLAGS = {"uniqueItems": "No two items are equal", "readOnly": "Read-only", "writeOnly": "Write-only"}
_TEXTS = {"format": "The format is", "contentEncoding": "The encoding is", "contentMediaType": "The media type is"}
_UNCHECKED = "; the bindings don't check this."


def canonicalise(schema: Any, *, inside: str = "items") -> Any:
    """Return a schema in this form. `inside` is the keyword that it is the value of."""
    if is_array(schema):
        return [canonicalise(item, inside=inside) for item in schema]
    if not is_object(schema):
        return (
            {}
            if schema is True and inside in ("items", *_LISTS)
            else escape_unsafe(schema)
            if isinstance(schema, str)
            else schema
        )
    if inside in _MAPS:
        return {name: canonicalise(value, inside="items") for name, value in schema.items()}
    said = {keyword: _describe_annotation(keyword, value) for keyword, value in schema.items()}
    kept = {
        keyword: value if keyword in _DATA else canonicalise(value, inside=keyword)
        for keyword, value in schema.items()
        if said[keyword] in (None, DEPRECATED)
    }
    texts = [text for text in (kept.get("description"), *map(escape_unsafe, filter(None, said.values()))) if text]
    return {**kept, "description": "\n\n".join(texts)} if any(said.values()) else kept


def _describe_annotation(keyword: str, value: Any) -> str | None:
    """Return what the description says about a keyword that only annotates; None if it is none, or malformed."""
    said: str | None
    match keyword, value:
        case ("required" | "examples", []) | ("$comment", str()) | ("deprecated", False):
            said = ""
        case "deprecated", True:
            said = DEPRECATED
        case "examples", [*_]:
            said = f"Examples: {', '.join(code(json.dumps(example, ensure_ascii=False)) for example in value)}."
        case _, bool() if keyword in _FLAGS:
            said = f"{_FLAGS[keyword]}{_UNCHECKED}" if value else ""
        case _, str() if keyword in _TEXTS and value not in _KNOWN.get(keyword, ()):
            said = f"{_TEXTS[keyword]} {code(value)}{_UNCHECKED}"
        case _:
            said = None
    return said


def find_unchecked(schema: Any, pointer: str = "") -> Iterator[str]:
    """Yield each keyword that would restrict values but isn't checked, with its pointer."""
    for key, value in schema.items() if is_object(schema) else enumerate(schema) if is_array(schema) else ():
        if (_describe_annotation(str(key), value) or "").endswith(_UNCHECKED):
            yield f"{key if value is True else f'{key} {value}'} ({pointer})"
        elif key not in _DATA:
            yield from find_unchecked(value, f"{pointer}/{escape(str(key))}")


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
            raise SchemaError(place, f"Expected {expected} here, found {_shorten(value)}.")
        for token, inner in _find_inner_schemas(keyword, value):
            check_vocabulary(inner, place + token)
    if "anyOf" in schema and "oneOf" in schema:
        raise SchemaError(pointer, "There is no rule for `anyOf` beside `oneOf`.")


def _find_inner_schemas(keyword: str, value: Json) -> list[tuple[str, Json]]:
    """Return the schemas that a keyword holds, each with the rest of its pointer."""
    if keyword in (*_SCHEMA, "additionalProperties") and is_object(value):
        return [("", value)]
    if keyword in _LISTS and is_array(value):
        return [(f"/{index}", item) for index, item in enumerate(value)]
    if keyword in _MAPS and is_object(value):
        return [(f"/{escape(key)}", item) for key, item in value.items()]
    return []


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: Json) -> bool:
    return is_array(value) and bool(value) and len({json.dumps(item, sort_keys=True) for item in value}) == len(value)


def _is_names(value: Json) -> bool:
    return _is_list(value) and all(map(_is_text, value))


def _shorten(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


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
    (
        ("minLength", "maxLength", "minItems", "maxItems"),
        "an integer of at least 0",
        lambda value: type(value) is int and value >= 0,
    ),
    (("minimum", "maximum"), "a number", _is_number),
    (("type",), "the name of a type, or a list of different ones", lambda value: _is_text(value) or _is_names(value)),
    (("required",), "a list of different names", _is_names),
    (("enum",), "a list of different values", _is_list),
    (("const", "default"), "a value", lambda value: True),
    (
        ("discriminator",),
        "an object with only `propertyName`",
        lambda value: is_object(value) and value.keys() == {"propertyName"} and _is_text(value["propertyName"]),
    ),
    (_SCHEMA, "a schema", lambda value: isinstance(value, dict)),
    (("additionalProperties",), "true or a schema", lambda value: value is True or is_object(value)),
    (_LISTS, "a list of different schemas", _is_list),
    (_MAPS, "schemas by name", lambda value: isinstance(value, dict)),
)
_KEYWORDS: dict[str, tuple[str, Check]] = {
    keyword: (expected, holds) for keywords, expected, holds in _RULES for keyword in keywords
}
