"""Makes up schemas of every shape that the generator reads: types within types, odd names and texts, defaults, cycles.

Unlike those of `fuzz`, the generator accepts them. A seed always gives the same schema.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from codegen.__main__ import SCHEMA
from codegen.errors import SchemaError
from codegen.pinned.pins import load
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, ref, tagged, wraps
from tests.support.codegen.fuzz import Fuzzed

_PROPERTIES = [
    "_meta",
    "type",
    "id",
    "dict",
    "set",
    "str",
    "int",
    "float",
    "bool",
    "bytes",
    "object",
    "format",
    "schema",
    "copy",
    "json",
    "self",
    "tag",
    "methods",
    "absent",
    "field",
    "class",
    "from",
    "import",
    "name",
    "value",
    "items",
    "keys",
    "modelConfig",
    "anyOf",
    "oneOf",
    "x",
    "aB",
    "a1",
    "union",
    "optional",
    "any",
    "none",
    "model",
    "fields",
]
_TEXTS = ["a", "two words", "it's", 'a "quote"', "a\\b", "é", "{{ x }}", "#: [", "\u2028", "a\nb", "", "None"]
_KEYWORDS: dict[str, list[Schema]] = {
    "string": [{}, {"format": "uri"}, {"contentEncoding": "base64"}, {"minLength": 1}, {"pattern": "^'\"\\."}],
    "integer": [{}, {"format": "int64"}, {"format": "uint8", "minimum": 0}, {"minimum": 0, "maximum": 9}],
    "number": [{}, {"format": "double"}, {"minimum": 0.5, "maximum": 2}],
    "boolean": [{}],
}
_DEFAULTS: dict[str, list[Any]] = {
    "string": _TEXTS,
    "integer": [0, 7],
    "number": [0, 1.5, 1e300, -0.25],
    "boolean": [True, False],
    "array": [[]],
}
# In front of the names of definitions, some of which Python or the templates use, too.
_BEGINNINGS = ["Thing", "List", "Any", "Str", "Union"]


def made_up(seed: int) -> Fuzzed:
    """Return the schema of a seed. A definition that the generator has no rule for is replaced by an empty object."""
    profile = load(SCHEMA, pinned=True)[0].profile
    definitions = _Maker(Random(seed)).definitions()
    while True:
        schema = acp_schema(definitions)
        try:
            read_schema(schema, profile.facts)
        except SchemaError as error:
            definitions[error.pointer.split("/")[2]] = model()
        else:
            return Fuzzed(profile, schema, f"made up from seed {seed}")


class _Maker:
    def __init__(self, random: Random) -> None:
        self._choose, self._chance, self._sample = random.choice, random.random, random.sample
        self._names = [f"{random.choice(_BEGINNINGS)}{chr(65 + index)}" for index in range(26)]
        self._models = self._names[:10]

    def definitions(self) -> Schema:
        makers = [self._enum, self._union, self._open_union, self._type, self._derived, self._reference]
        found = {name: self._model() for name in self._models}
        found |= {name: self._choose(makers)() for name in self._names[10:]}
        return {name: self._documented(each) for name, each in found.items()} | {"Hiding": self._hiding()}

    def _documented(self, schema: Schema) -> Schema:
        return schema | ({"description": self._choose(_TEXTS)} if self._chance() < 0.5 else {})

    def _hiding(self) -> Schema:
        """Return a model with a property that hides the built-in `list`, which its annotations need."""
        return model(list={"type": "array", "items": STRING}, last={"type": "array", "items": self._enum()})

    def _model(self) -> Schema:
        found = {key: self._property() for key in self._sample(_PROPERTIES, self._choose(range(7)))}
        required = [key for key, each in found.items() if "default" not in each and self._chance() < 0.4]
        return model(required, **found) | ({"additionalProperties": True} if self._chance() < 0.2 else {})

    def _property(self) -> Schema:
        found = self._documented(self._type())
        defaults = found.get("enum") or _DEFAULTS.get(str(found.get("type")), [])
        has_default = defaults and "const" not in found and self._chance() < 0.5
        return {**found, "default": self._choose(defaults)} if has_default else found

    def _type(self, depth: int = 2) -> Schema:
        """Return the schema of a value, with up to `depth` levels of parts."""
        nested: list[Callable[[int], Schema]] = [self._array, self._map, self._choice, self._nullable]
        if depth and self._chance() < 0.4:
            return self._choose(nested)(depth - 1)
        return self._choose([self._scalar, self._scalar, self._reference, self._reference, self._enum])()

    def _scalar(self) -> Schema:
        name = self._choose([*_KEYWORDS, ""])
        return {"type": name, **self._choose(_KEYWORDS[name])} if name else {}

    def _reference(self) -> Schema:
        return self._choose([ref, wraps])(self._choose(self._names))

    def _enum(self) -> Schema:
        values = self._sample(_TEXTS, self._choose(range(1, 5)))
        constants = [{"type": "string", "const": each} for each in values]
        choices: list[Schema] = [
            {"type": "string", "enum": values},
            {"type": "integer", "const": self._choose(range(-9, 9))},
            {"anyOf": [*constants, {"title": "Other", "type": "string"}]},
            {"oneOf": constants},
        ]
        return self._choose(choices)

    def _array(self, depth: int) -> Schema:
        return {"type": "array", "items": self._type(depth), **self._choose([{}, {"minItems": 1}])}

    def _map(self, depth: int) -> Schema:
        return {"type": "object", "additionalProperties": self._type(depth) or True}

    def _choice(self, depth: int) -> Schema:
        return {"anyOf": [self._type(depth) for _ in range(self._choose(range(2, 4)))]}

    def _nullable(self, depth: int) -> Schema:
        if self._chance() < 0.5:
            return {**self._choose(_KEYWORDS["string"]), "type": ["string", "null"]}
        return {"anyOf": [self._type(depth), {"type": "null"}]}

    def _union(self) -> Schema:
        if self._chance() < 0.3:
            members = self._sample(self._models, self._choose(range(1, 4)))
            return {"anyOf": [{"title": each, **wraps(each)} for each in members]}
        return {"anyOf": [self._member(each) for each in self._sample(["a", "b", "list", "new_one"], 3)]}

    def _open_union(self) -> Schema:
        return {"anyOf": [self._member("a"), self._member("b"), other("kind", "a", "b")]}

    def _member(self, tag: str) -> Schema:
        return tagged("kind", tag, self._choose([None, *self._models]))

    def _derived(self) -> Schema:
        return {**model(own=self._type()), **wraps(self._choose(self._models))}
