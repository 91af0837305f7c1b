"""References, properties and types that stop the generator, each with the pointer and words of its error."""

from __future__ import annotations

from typing import Any

from tests.support.codegen.build import STRING, array, model, ref, tagged, wraps
from tests.support.codegen.refusal_base import Case, at, changed, without


def at_a(schema: Any, words: str, below: str = "", required: bool = False) -> Case:
    """Return a case in which the property `a` of `Text` has a schema. The error is there, or below it."""
    definition = model(["a"] if required else [], a=schema)
    return changed(Text=definition), f"/$defs/Text/properties/a{below}", words


NOWHERE, KIND = "Expected a reference", "/$defs/Kind"
ON_ERROR, ON_NULL, SKIP = (
    f"x-deserialize-{end}" for end in ("default-on-error", "default-on-null", "skip-invalid-items")
)
NOTE = "/$defs/Text/properties/note"
TYPES: dict[str, Case] = {
    "a reference to nowhere": at_a(ref("Gone"), "no definition 'Gone'"),
    "a reference to a definition that refers to nowhere": (
        changed(Text=model(a=ref("Sort")), Sort=ref("Gone")),
        "/$defs/Sort",
        "no definition 'Gone'",
    ),
    "a member that wraps a missing definition": (
        changed(Block={"anyOf": [tagged("type", "a", "Gone")]}),
        "/$defs/Block/anyOf/0",
        "'Gone'",
    ),
    "a reference into a definition": at_a({"$ref": "#/$defs/Kind/oneOf/0"}, NOWHERE, "/$ref"),
    "a reference to another file": at_a({"$ref": "other.json#/$defs/Kind"}, NOWHERE, "/$ref"),
    "an alias of itself": (changed(Kind=ref("Kind")), KIND, "can't be itself"),
    "two aliases of each other": (changed(Kind=ref("Sort"), Sort=ref("Kind")), KIND, "can't be itself"),
    "a required property that has nothing to fall back to": at_a(
        {**STRING, ON_ERROR: True}, "the fallback of a required property", required=True
    ),
    "a required property with a default": at_a({**STRING, "default": "x"}, "required", "/default", required=True),
    "items to skip in a string": at_a({**STRING, SKIP: True}, "Only an array", f"/{SKIP}"),
    "a default for null on a string": at_a({**STRING, ON_NULL: True}, "replacing null here", f"/{ON_NULL}"),
    "leniency that is false": (at(NOTE, **{ON_ERROR: False}), f"{NOTE}/{ON_ERROR}", "Expected true"),
    "a pattern that looks ahead": at_a({**STRING, "pattern": "^(?=a)b"}, "look-around, including", "/pattern"),
    "a pattern that no engine can use": at_a({**STRING, "pattern": "(("}, "'((': unclosed group.", "/pattern"),
    "a default of another type": at_a({"type": "boolean", "default": "x"}, "property's type, bool", "/default"),
    "a default with another item": at_a(array(STRING, default=[1]), "property's type", "/default"),
    "a default with a key its definition lacks": (
        changed(Holder=model(a={**wraps("Text"), "default": {"new": 1}})),
        "/$defs/Holder/properties/a/default",
        "The default {'new': 1} is not of the property's type, Text",
    ),
    "a property not described": (changed(Text=model(["b"], a=STRING)), "/$defs/Text/required", "not described"),
    "two types": at_a({"type": ["string", "integer"]}, "one type", "/type"),
    "an unknown type": at_a({"type": "date"}, "one type", "/type"),
    "a format of another type": at_a({"type": "integer", "format": "double"}, "'double' has no rule", "/format"),
    "an unsigned integer without a minimum": at_a({"type": "integer", "format": "uint32"}, "`minimum`", "/format"),
    "an array without items": at_a({"type": "array"}, "without `items`"),
    "an object inside a property": at_a(model(b=STRING), "no name"),
    "an object without properties": at_a({"type": "object"}, "additionalProperties"),
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
    "a constant of another type": (changed(Kind={"type": "string", "enum": [1]}), KIND, "constant 1"),
    "an enum with one value twice": (changed(Kind={**STRING, "enum": ["a", "a"]}), f"{KIND}/enum", "differ"),
    "one name twice in `required`": (
        changed(Text=model(["a", "a"], a=STRING)),
        "/$defs/Text/required",
        "Expected a list of different names",
    ),
}
