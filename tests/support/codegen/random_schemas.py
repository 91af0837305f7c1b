"""Random schemas: pinned ones with changes that need not make sense, and new ones that the generator accepts.

A seed always gives the same schema.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from pydantic import BaseModel

from codegen.__main__ import SCHEMA
from codegen.errors import SchemaError
from codegen.pinned.pins import Pinned, load
from codegen.pinned.profiles import Profile
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, array, model, other, ref, tagged, wraps
from tests.support.codegen.mutations import Path, at, replaced

# Names that mean something in Python or in pydantic, which generated code has to avoid. The generator refuses `list` in
# a definition that contains itself.
TAKEN_NAMES = sorted({*keyword.kwlist, *dir(builtins), *dir(BaseModel)} - {"list"})
NAMES = [
    "$anchor",
    "$id",
    "contains",
    "if",
    "prefixItems",
    "x-new",
    "",
    "1x",
    "a/b",
    "é",
    "class",
    "copy",
    "str",
    "Any",
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    'é\n"""\\',
    "object",
    "session/new",
    [],
    ["a", "a"],
    [None],
    [{"type": "null"}],
    {},
    {"a": {}},
    {"type": ["string", "null"]},
    {"$ref": "#/$defs/Nope"},
]
TEXTS = ["a", "two words", "it's", 'a "quote"', "a\\b", "é", "{{ x }}", "#: [", "\u2028", "a\nb", "", "None"]
TYPES: dict[str, list[Schema]] = {
    "string": [{}, {"format": "uri"}, {"contentEncoding": "base64"}, {"minLength": 1}, {"pattern": "^'\"\\."}],
    "integer": [{}, {"format": "int64"}, {"format": "uint8", "minimum": 0}, {"minimum": 0, "maximum": 9}],
    "number": [{}, {"format": "double"}, {"minimum": 0.5, "maximum": 2}],
    "boolean": [{}],
}
DEFAULTS: dict[str, list[Any]] = {
    "string": TEXTS,
    "integer": [0, 7],
    "number": [0, 1.5, 1e300, -0.25],
    "boolean": [True, False],
    "array": [[]],
}


@dataclass(frozen=True)
class RandomSchema:
    """A schema of a profile, and how it came about."""

    profile: Profile
    schema: Schema
    origin: str


def changed_schema(seed: int) -> RandomSchema:
    """Return a pinned schema after one to three changes of an object in it."""
    random = Random(seed)
    pinned = random.choice(_pinned())
    schema, origin = pinned.schema, f"seed {seed}:"
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        path = random.choice([path for path in _paths(schema) if at(schema, path)])
        schema = replaced(schema, path, _changed(random, at(schema, path)))
        origin += f" /{'/'.join(map(str, path))}"
    return RandomSchema(pinned.profile, schema, origin)


@cache
def _pinned() -> list[Pinned]:
    return load(SCHEMA, pinned=True)


def _paths(node: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all objects in a JSON value."""
    if isinstance(node, dict):
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from _paths(value, (*path, key))


def _changed(random: Random, node: Schema) -> Schema:
    """Return an object after a change: a key dropped, renamed or with another value, or the object within another."""
    key, name, value = random.choice([*node]), random.choice(NAMES), random.choice(VALUES)
    changes: list[Schema] = [
        {other: node[other] for other in node if other != key},
        {(name if other == key else other): node[other] for other in node},
        {**node, random.choice([key, name]): value},
        {"anyOf": [node, {"type": "null"}]},
        array(node),
        {"type": "object", "additionalProperties": node},
    ]
    return random.choice(changes)


def new_schema(seed: int) -> RandomSchema:
    """Return types within types, odd names and texts, defaults and cycles.

    A definition that the generator has no rule for is replaced by an empty object.
    """
    profile = load(SCHEMA, pinned=True)[0].profile
    definitions = _Definitions(Random(seed)).all()
    while True:
        schema = acp_schema(definitions)
        try:
            read_schema(schema, profile.own_tables)
        except SchemaError as error:
            definitions[error.pointer.split("/")[2]] = model()
        else:
            return RandomSchema(profile, schema, f"new from seed {seed}")


class _Definitions:
    def __init__(self, random: Random) -> None:
        self._choose, self._chance, self._sample = random.choice, random.random, random.sample
        # Python or the templates use some of the names, too.
        beginnings = ["Thing", "List", "Any", "Str", "Union"]
        self._names = [f"{random.choice(beginnings)}{chr(65 + index)}" for index in range(26)]
        self._models = self._names[:10]

    def all(self) -> Schema:
        kinds = [self._enum, self._union, self._open_union, self._type, self._derived, self._reference]
        definitions = {name: self._model() for name in self._models}
        definitions |= {name: self._choose(kinds)() for name in self._names[10:]}
        definitions = {name: self._described(definition) for name, definition in definitions.items()}
        return definitions | {"Hiding": self._hiding()}

    def _described(self, schema: Schema) -> Schema:
        return schema | ({"description": self._choose(TEXTS)} if self._chance() < 0.5 else {})

    def _hiding(self) -> Schema:
        """Return a model with a property that hides the built-in `list`, which its annotations need."""
        return model(list=array(STRING), last=array(self._enum()))

    def _model(self) -> Schema:
        keys = self._sample(["_meta", "aB", "a1", "modelConfig", *TAKEN_NAMES], self._choose(range(7)))
        properties = {key: self._property() for key in keys}
        required = [key for key in keys if "default" not in properties[key] and self._chance() < 0.4]
        return model(required, **properties) | ({"additionalProperties": True} if self._chance() < 0.2 else {})

    def _property(self) -> Schema:
        schema = self._described(self._type())
        defaults = schema.get("enum") or DEFAULTS.get(str(schema.get("type")), [])
        has_default = defaults and "const" not in schema and self._chance() < 0.5
        return {**schema, "default": self._choose(defaults)} if has_default else schema

    def _type(self, depth: int = 2) -> Schema:
        """Return the schema of a value, with up to `depth` levels of parts."""
        if not depth or self._chance() < 0.6:
            return self._choose([self._scalar, self._scalar, self._reference, self._reference, self._enum])()
        part = self._type(depth - 1)
        nested: list[Schema] = [
            array(part),
            array(part, minItems=1),
            {"type": "object", "additionalProperties": part or True},
            {"anyOf": [part, self._type(depth - 1)]},
            {"anyOf": [part, {"type": "null"}]},
            {**self._choose(TYPES["string"]), "type": ["string", "null"]},
        ]
        return self._choose(nested)

    def _scalar(self) -> Schema:
        name = self._choose([*TYPES, ""])
        return {"type": name, **self._choose(TYPES[name])} if name else {}

    def _reference(self) -> Schema:
        return self._choose([ref, wraps])(self._choose(self._names))

    def _enum(self) -> Schema:
        values = self._sample(TEXTS, self._choose(range(1, 5)))
        constants = [{"type": "string", "const": value} for value in values]
        enums: list[Schema] = [
            {"type": "string", "enum": values},
            {"type": "integer", "const": self._choose(range(-9, 9))},
            {"anyOf": [*constants, {"title": "Other", "type": "string"}]},
            {"oneOf": constants},
        ]
        return self._choose(enums)

    def _union(self) -> Schema:
        if self._chance() < 0.3:
            members = self._sample(self._models, self._choose(range(1, 4)))
            return {"anyOf": [{"title": name, **wraps(name)} for name in members]}
        return {"anyOf": [self._member(tag) for tag in self._sample(["a", "b", "list", "new_one"], 3)]}

    def _open_union(self) -> Schema:
        return {"anyOf": [self._member("a"), self._member("b"), other("kind", "a", "b")]}

    def _member(self, tag: str) -> Schema:
        return tagged("kind", tag, self._choose([None, *self._models]))

    def _derived(self) -> Schema:
        return {**model(own=self._type()), **wraps(self._choose(self._models))}
