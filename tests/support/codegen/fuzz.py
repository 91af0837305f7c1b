"""Changes pinned schemas in random places: drops, replaces, renames, adds, copies and wraps.

The results need not be valid or make sense, unlike those of `mutations`. A seed always gives the same schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from codegen.__main__ import SCHEMA
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile
from tests.support.codegen.build import Schema
from tests.support.codegen.mutations import Path, at, replaced

_KEYWORDS = [
    "$anchor",
    "$comment",
    "$id",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "default",
    "deprecated",
    "description",
    "discriminator",
    "enum",
    "examples",
    "format",
    "if",
    "items",
    "maximum",
    "maxItems",
    "maxLength",
    "minimum",
    "minItems",
    "minLength",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "unevaluatedProperties",
    "x-deserialize-default-on-error",
    "x-deserialize-default-on-null",
    "x-deserialize-skip-invalid-items",
    "x-docs-ignore",
    "x-method",
    "x-new",
    "x-side",
]
_NAMES = [
    "Agent",
    "Any",
    "Field",
    "Model",
    "None",
    "True",
    "_meta",
    "a/b",
    "a~b",
    "class",
    "copy",
    "dict",
    "json",
    "list",
    "meta",
    "methods",
    "model_config",
    "request",
    "schema",
    "self",
    "str",
    "tag",
    "type_",
    "é",
]
_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", "x", 'é\n"""\\', "a b", "1x", "__class__", "class", "self"),
    *("string", "object", "array", "null", "integer", "uint8", "date-time", "both", "agent", "session/new"),
    *([], ["a"], ["a", "a"], [None], [{}], [[]], [{"type": "null"}], [{"type": "string", "const": "x"}]),
    *({}, {"a": {}}, {"type": "string"}, {"type": "object"}, {"type": ["string", "null"]}, {"type": "array"}),
    *({"$ref": "#/$defs/Nope"}, {"$ref": "https://example.com"}, "#/$defs/Nope"),
]


@dataclass(frozen=True)
class Fuzzed:
    """A changed schema, and a description of the changes."""

    profile: Profile
    schema: Schema
    changes: str


def fuzzed(seed: int) -> Fuzzed:
    """Return the schema of a seed."""
    random = Random(seed)
    profile, schema, places = random.choice(_pinned())
    changes: list[str] = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        path = random.choice(places)
        if path and _is_there(schema, path):
            schema = _changed(random, schema, path)
            changes.append(f"/{'/'.join(map(str, path))}")
    return Fuzzed(profile, schema, f"seed {seed}: {', '.join(changes) or 'nothing'}")


@cache
def _pinned() -> list[tuple[Profile, Schema, list[Path]]]:
    """Return every pinned schema with the paths of all its values."""
    found = [(each.profile, each.schema) for each in load(SCHEMA, pinned=True)]
    return [(profile, schema, list(_places(schema))) for profile, schema in found]


def _places(node: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for key, each in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from _places(each, (*path, key))


def _is_there(schema: Schema, path: Path) -> bool:
    try:
        at(schema, path)
    except (IndexError, KeyError, TypeError):
        return False
    return not isinstance(at(schema, path[:-1]), str)


def _value(random: Random, schema: Schema) -> Any:
    definitions = schema.get("$defs")
    known = [f"#/$defs/{name}" for name in definitions] if isinstance(definitions, dict) and definitions else ["#"]
    return random.choice([*_VALUES, random.choice(known), {"$ref": random.choice(known)}])


def _changed(random: Random, schema: Schema, path: Path) -> Schema:
    """Change the key of a value, or put another one in its place."""
    if random.random() < 1 / 3:
        return replaced(schema, path[:-1], _without_or_renamed(random, at(schema, path[:-1]), path[-1]))
    node, value = at(schema, path), _value(random, schema)
    wrapped = [
        {random.choice(["anyOf", "oneOf", "allOf"]): random.choice([[node], [node, {"type": "null"}], [node, value]])},
        {"type": "array", "items": node},
        {"type": "object", "additionalProperties": node},
    ]
    choices = [
        value,
        at(schema, random.choice(list(_places(schema)))),
        {**node, random.choice(_KEYWORDS): value} if isinstance(node, dict) else value,
        random.choice(wrapped),
    ]
    return replaced(schema, path, random.choice(choices))


def _without_or_renamed(random: Random, parent: Any, key: str | int) -> Any:
    if isinstance(key, int):
        return [*parent[:key], *parent[key + 1 :]]
    names = [f"{key}s", f"x{key}", f"_{key}", key.upper(), key.capitalize(), "", *_NAMES, *parent]
    new = random.choice([None, random.choice(names)])
    renamed = {(new if each == key else each): value for each, value in parent.items()}
    return {name: value for name, value in renamed.items() if name is not None}
