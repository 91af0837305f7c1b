"""References, properties and types that stop the generator, each with the pointer and words of its error."""

from __future__ import annotations

from tests.support.codegen.build import STRING, model, ref, tagged, wraps
from tests.support.codegen.refusal_base import Case, at, changed, without

TYPES: dict[str, Case] = {
    "a reference to nowhere": (changed(Text=model(a=ref("Gone"))), "/$defs/Text/properties/a", "no definition 'Gone'"),
    "a member that wraps a missing definition": (
        changed(Block={"anyOf": [tagged("type", "a", "Gone")]}),
        "/$defs/Block/anyOf/0",
        "'Gone'",
    ),
    "a reference into a definition": (
        changed(Text=model(a={"$ref": "#/$defs/Kind/oneOf/0"})),
        "/$defs/Text/properties/a/$ref",
        "Expected a reference",
    ),
    "a reference to another file": (
        changed(Text=model(a={"$ref": "other.json#/$defs/Kind"})),
        "/$defs/Text/properties/a/$ref",
        "Expected a reference",
    ),
    "an alias of itself": (changed(Kind=ref("Kind")), "/$defs/Kind", "can't be itself"),
    "two aliases of each other": (changed(Kind=ref("Sort"), Sort=ref("Kind")), "/$defs/Kind", "can't be itself"),
    "a required property that has nothing to fall back to": (
        changed(Text=model(["a"], a={**STRING, "x-deserialize-default-on-error": True})),
        "/$defs/Text/properties/a",
        "the fallback of a required property",
    ),
    "a required property with a default": (
        changed(Text=model(["a"], a={**STRING, "default": "x"})),
        "/$defs/Text/properties/a/default",
        "required",
    ),
    "items to skip in a string": (
        changed(Text=model(a={**STRING, "x-deserialize-skip-invalid-items": True})),
        "/$defs/Text/properties/a/x-deserialize-skip-invalid-items",
        "Only an array",
    ),
    "a default for null on a string": (
        changed(Text=model(a={**STRING, "x-deserialize-default-on-null": True})),
        "/$defs/Text/properties/a/x-deserialize-default-on-null",
        "replacing null here",
    ),
    "leniency that is false": (
        at("/$defs/Text/properties/note", **{"x-deserialize-default-on-error": False}),
        "/$defs/Text/properties/note/x-deserialize-default-on-error",
        "Expected true",
    ),
    "a default of another type": (
        changed(Text=model(a={"type": "boolean", "default": "x"})),
        "/$defs/Text/properties/a/default",
        "not of the property's type, bool",
    ),
    "a default with items": (
        changed(Text=model(a={"type": "array", "items": STRING, "default": ["x"]})),
        "/$defs/Text/properties/a/default",
        "with items",
    ),
    "a default with a key its definition lacks": (
        changed(Holder=model(a={**wraps("Text"), "default": {"new": 1}})),
        "/$defs/Holder/properties/a/default/new",
        "the key 'new', which Text doesn't have",
    ),
    "a required property that is not described": (
        changed(Text=model(["gone"], a=STRING)),
        "/$defs/Text/required",
        "not described",
    ),
    "two types": (changed(Text=model(a={"type": ["string", "integer"]})), "/$defs/Text/properties/a/type", "one type"),
    "an unknown type": (changed(Text=model(a={"type": "date"})), "/$defs/Text/properties/a/type", "one type"),
    "an array without items": (changed(Text=model(a={"type": "array"})), "/$defs/Text/properties/a", "without `items`"),
    "an object inside a property": (changed(Text=model(a=model(b=STRING))), "/$defs/Text/properties/a", "no name"),
    "an object without properties": (
        changed(Text=model(a={"type": "object"})),
        "/$defs/Text/properties/a",
        "additionalProperties",
    ),
    "additionalProperties false": (
        at("/$defs/Text", additionalProperties=False),
        "/$defs/Text/additionalProperties",
        "Expected true",
    ),
    "properties without a type": (without("/$defs/Text/type"), "/$defs/Text", "beside `properties`"),
    "an array as the member of a union of objects": (
        at("/$defs/Block/anyOf/1", type="array"),
        "/$defs/Block/anyOf/1/type",
        "Expected an object, found 'array'",
    ),
    "a constant of another type": (changed(Kind={"type": "string", "enum": [1]}), "/$defs/Kind", "constant 1"),
    "an enum with one value twice": (
        changed(Kind={"type": "string", "enum": ["a", "a"]}),
        "/$defs/Kind/enum",
        "differ",
    ),
}
