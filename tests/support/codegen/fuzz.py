"""Changes pinned schemas in random places: drops, replaces, renames, adds, copies and wraps.

The results need not be valid or make sense, unlike those of `mutations`. A seed always gives the same schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from codegen.__main__ import SCHEMA
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile

Path = tuple[str | int, ...]
Schema = dict[str, Any]

_KEYWORDS = """
    $anchor $comment $id $ref additionalProperties allOf anyOf const contains contentEncoding default deprecated
    description discriminator enum examples format if items maximum maxItems maxLength minimum minItems minLength not
    oneOf pattern patternProperties prefixItems properties readOnly required title type unevaluatedProperties
    x-deserialize-default-on-error x-deserialize-default-on-null x-deserialize-skip-invalid-items x-docs-ignore x-method
    x-new x-side
""".split()
_NAMES = """
    Agent Any Field Model None True _meta a/b a~b class copy dict json list meta methods model_config request schema
    self str tag type_ é
""".split()
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
            action = random.choice(_ACTIONS)
            schema = action(random, schema, path)
            changes.append(f"{action.__name__.strip('_')} /{'/'.join(map(str, path))}")
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


def _at(node: Any, path: Path) -> Any:
    for key in path:
        node = node[key]
    return node


def _is_there(schema: Schema, path: Path) -> bool:
    try:
        _at(schema, path)
    except (IndexError, KeyError, TypeError):
        return False
    return not isinstance(_at(schema, path[:-1]), str)


def _with(node: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at a path. Values beside the path are shared."""
    if not path:
        return value
    copy = node.copy()
    copy[path[0]] = _with(node[path[0]], path[1:], value)
    return copy


def _value(random: Random, schema: Schema) -> Any:
    definitions = schema.get("$defs")
    known = [f"#/$defs/{name}" for name in definitions] if isinstance(definitions, dict) and definitions else ["#"]
    return random.choice([*_VALUES, random.choice(known), {"$ref": random.choice(known)}])


def _drop(_: Random, schema: Schema, path: Path) -> Schema:
    parent = _at(schema, path[:-1]).copy()
    del parent[path[-1]]
    return _with(schema, path[:-1], parent)


def _replace(random: Random, schema: Schema, path: Path) -> Schema:
    return _with(schema, path, _value(random, schema))


def _rename(random: Random, schema: Schema, path: Path) -> Schema:
    parent, old = _at(schema, path[:-1]), path[-1]
    if not isinstance(parent, dict) or not isinstance(old, str):
        return schema
    new = random.choice([f"{old}s", f"x{old}", f"_{old}", old.upper(), old.capitalize(), "", *_NAMES, *parent])
    return _with(schema, path[:-1], {(new if key == old else key): each for key, each in parent.items()})


def _add(random: Random, schema: Schema, path: Path) -> Schema:
    node = _at(schema, path)
    if not isinstance(node, dict):
        return schema
    return _with(schema, path, {**node, random.choice(_KEYWORDS): _value(random, schema)})


def _put_elsewhere(random: Random, schema: Schema, path: Path) -> Schema:
    other = random.choice(list(_places(schema)))
    return _with(schema, path, _at(schema, other))


def _wrap(random: Random, schema: Schema, path: Path) -> Schema:
    node, null = _at(schema, path), {"type": "null"}
    keyword = random.choice(["anyOf", "oneOf", "allOf"])
    wraps = [
        {keyword: [node]},
        {keyword: [node, null]},
        {keyword: [node, _value(random, schema)]},
        {"type": "array", "items": node},
        {"type": "object", "additionalProperties": node},
    ]
    return _with(schema, path, random.choice(wraps))


_ACTIONS: list[Callable[[Random, Schema, Path], Schema]] = [
    _drop,
    _replace,
    _rename,
    _add,
    _put_elsewhere,
    _wrap,
]
