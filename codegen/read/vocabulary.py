"""The first pass over a schema: turns annotations into text, and checks every keyword.

`canonicalise` changes nothing that the bindings check. Keywords that only annotate, and formats that the bindings don't
check, become part of the description. Unsafe characters are escaped. `true`, the schema of any JSON, becomes an empty
object, and an enum with one value a constant.

`check_vocabulary` then stops the generator at unknown keywords and malformed values. The later passes only decide
whether a keyword is allowed in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from codegen.chosen_names import read_chosen_names
from codegen.errors import REPORT, SchemaError
from codegen.escaping import code, escape_unsafe
from codegen.nodes import escape, is_array, is_object
from codegen.types import FORMATS

Json: TypeAlias = Any
Check = Callable[[Json], bool]

# The description of something deprecated says so. The keyword stays, because the IR has it as well.
DEPRECATED = "Deprecated."
# Keywords by their values: data, schemas by name, lists of schemas, one schema.
_DATA = ("const", "default", "enum", "pattern", "examples")
_MAPS = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "allOf")
_SCHEMA = ("items", "not")
# The formats and encodings that have a type.
_KNOWN = {"format": FORMATS.keys() - {"base64"}, "contentEncoding": {"base64"}}
# Sentences for keywords that restrict values, but that the bindings don't check: flags, and keywords with a text.
_FLAGS = {"uniqueItems": "No two items are equal", "readOnly": "Read-only", "writeOnly": "Write-only"}
_TEXTS = {"format": "The format is", "contentEncoding": "The encoding is", "contentMediaType": "The media type is"}
_UNCHECKED = "; the bindings don't check this."


def prepare(schema: Any) -> Any:
    """Return a schema as the later passes read it: without annotations, and with the names of `names.toml`."""
    return read_chosen_names().rename_definitions(canonicalise(schema))


def canonicalise(schema: Any, *, inside: str = "items") -> Any:
    """Return a schema without annotations, which become part of its description. `inside` is the keyword above it."""
    if is_array(schema):
        return [canonicalise(item, inside=inside) for item in schema]
    if is_object(schema):
        if inside in _MAPS:
            return {name: canonicalise(value, inside="items") for name, value in schema.items()}
        return _canonicalise_object(schema)
    if schema is True and inside in ("items", *_LISTS):
        return {}
    return escape_unsafe(schema) if isinstance(schema, str) else schema


def _canonicalise_object(schema: dict[str, Any]) -> dict[str, Any]:
    annotations = {keyword: _describe_annotation(keyword, value) for keyword, value in schema.items()}
    canonical = {
        keyword: value if keyword in _DATA else canonicalise(value, inside=keyword)
        for keyword, value in schema.items()
        if annotations[keyword] in (None, DEPRECATED)
    }
    if any(annotations.values()):
        texts = [canonical.get("description", ""), *(escape_unsafe(text or "") for text in annotations.values())]
        canonical["description"] = "\n\n".join(filter(None, texts))
    if is_array(values := canonical.get("enum")) and len(values) == 1 and "const" not in canonical:
        canonical["const"] = canonical.pop("enum")[0]
    return canonical


def _describe_annotation(keyword: str, value: Any) -> str | None:
    """Return a sentence about a keyword that only annotates, which may be empty; None for any other keyword."""
    text: str | None
    match keyword, value:
        case ("required" | "examples", []) | ("$comment", str()) | ("deprecated", False):
            text = ""
        case "deprecated", True:
            text = DEPRECATED
        case "examples", [*_]:
            text = f"Examples: {', '.join(code(json.dumps(example, ensure_ascii=False)) for example in value)}."
        case _, bool() if keyword in _FLAGS:
            text = f"{_FLAGS[keyword]}{_UNCHECKED}" if value else ""
        case _, str() if keyword in _TEXTS and value not in _KNOWN.get(keyword, ()):
            text = f"{_TEXTS[keyword]} {code(value)}{_UNCHECKED}"
        case _:
            text = None
    return text


def find_unchecked(schema: Any, pointer: str = "") -> Iterator[str]:
    """Yield the keywords that restrict values but aren't checked by the bindings, with their pointers."""
    if is_array(schema):
        for index, item in enumerate(schema):
            yield from find_unchecked(item, f"{pointer}/{index}")
    for keyword, value in schema.items() if is_object(schema) else ():
        if (_describe_annotation(keyword, value) or "").endswith(_UNCHECKED):
            yield f"{keyword if value is True else f'{keyword} {value}'} ({pointer})"
        elif keyword not in _DATA:
            yield from find_unchecked(value, f"{pointer}/{escape(keyword)}")


def check_vocabulary(schema: Json, pointer: str = "") -> None:
    """Check every keyword of a schema and of the schemas in it."""
    if not is_object(schema):
        raise SchemaError(pointer, f"Expected a schema object, found {type(schema).__name__}.", next_step=REPORT)
    for keyword, value in schema.items():
        place = f"{pointer}/{escape(keyword)}"
        if keyword not in _KEYWORDS:
            raise SchemaError(place, f"The keyword {keyword!r} has no rule.")
        expected, is_valid = _KEYWORDS[keyword]
        if not is_valid(value):
            raise SchemaError(place, f"Expected {expected} here, found {_shorten(value)}.")
        for token, inner in _find_inner_schemas(keyword, value):
            check_vocabulary(inner, place + token)
    if "anyOf" in schema and "oneOf" in schema:
        raise SchemaError(pointer, "There is no rule for `anyOf` beside `oneOf`.")


def _find_inner_schemas(keyword: str, value: Json) -> list[tuple[str, Json]]:
    """Return the schemas in a keyword's value, with the rest of their pointers."""
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
    return is_array(value) and bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_mapping(discriminator: dict[str, Json]) -> bool:
    mapping = discriminator.get("mapping", {})
    return (
        discriminator.keys() <= {"propertyName", "mapping"}
        and is_object(mapping)
        and all(map(_is_text, mapping.values()))
    )


def _shorten(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


_RULES: tuple[tuple[tuple[str, ...], str, Check], ...] = (
    (("$schema", "$id", "$ref", "title", "description", "format", "contentEncoding", "pattern"), "a string", _is_text),
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
        "an object with `propertyName` and perhaps a `mapping` of texts, and nothing else",
        lambda value: is_object(value) and _is_text(value.get("propertyName")) and _is_mapping(value),
    ),
    (_SCHEMA, "a schema", lambda value: isinstance(value, dict)),
    (("additionalProperties",), "true or a schema", lambda value: value is True or is_object(value)),
    (_LISTS, "a list of different schemas", _is_list),
    (_MAPS, "schemas by name", lambda value: isinstance(value, dict)),
)
_KEYWORDS: dict[str, tuple[str, Check]] = {
    keyword: (expected, is_valid) for keywords, expected, is_valid in _RULES for keyword in keywords
}
