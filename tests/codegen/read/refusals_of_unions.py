"""Unions and names that stop the generator, each with the pointer and words of its error."""

from __future__ import annotations

from tests.support.codegen.build import STRING, model, other, ref, tagged, wraps
from tests.support.codegen.refusal_base import Case, at, changed

UNIONS: dict[str, Case] = {
    "two tags": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("kind", "b", "Text")]}),
        "/$defs/Block",
        "several constants",
    ),
    "one tag twice": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("type", "a", description="Again.")]}),
        "/$defs/Block",
        "have the tag 'a'",
    ),
    "a member with neither tag nor title": (
        changed(Block={"anyOf": [wraps("Text"), wraps("Holder")]}),
        "/$defs/Block/anyOf/0",
        "a title",
    ),
    "an open member that excludes too little": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("type", "b", "Text"), other("type", "a")]}),
        "/$defs/Block/anyOf/2/not",
        "it doesn't exclude b.",
    ),
    "an open member that excludes a constant that is not a string": (
        at("/$defs/Block/anyOf/1/not/anyOf/0/properties/type", const=[]),
        "/$defs/Block/anyOf/1/not/anyOf/0",
        "one constant tag",
    ),
    "a discriminator without a name": (
        changed(Block={"oneOf": [tagged("type", "a", "Text")], "discriminator": {"propertyName": []}}),
        "/$defs/Block/discriminator",
        "only `propertyName`",
    ),
    "a discriminator that no member has": (
        changed(Block={"oneOf": [tagged("type", "a", "Text")], "discriminator": {"propertyName": "kind"}}),
        "/$defs/Block/discriminator",
        "No member",
    ),
    "a oneOf with a tag and no discriminator": (
        changed(Block={"oneOf": [tagged("type", "a", "Text")]}),
        "/$defs/Block",
        "discriminator",
    ),
    "a oneOf of types": (changed(Kind={"oneOf": [STRING, {"type": "integer"}]}), "/$defs/Kind", "constants"),
    "anyOf beside oneOf": (at("/$defs/Kind", anyOf=[STRING]), "/$defs/Kind", "beside"),
    "a union of nothing": (changed(Kind={"anyOf": []}), "/$defs/Kind/anyOf", "Expected a list of different schemas"),
    "a property of both a member and the union": (
        changed(
            Block={
                **model(type=STRING, a=STRING),
                "anyOf": [
                    {**model(["type"], a=STRING, type={"type": "string", "const": "x"})},
                    {"title": "none", **model(type={"type": "null"})},
                ],
            }
        ),
        "/$defs/Block/anyOf/0/properties/a",
        "whole union",
    ),
    "a tag that the wrapped definition has as a property": (
        changed(Block={"anyOf": [tagged("text", "a", "Text")]}),
        "/$defs/Block/anyOf/0",
        "which this wraps",
    ),
    "two members with the same name": (
        changed(Block={"anyOf": [tagged("type", "a_b"), tagged("type", "aB")]}),
        "/$defs/Block/anyOf/1",
        "already the name",
    ),
    "a member with a definition's name": (
        changed(BlockText=model()),
        "/$defs/Block/anyOf/0",
        "already the name of a definition",
    ),
    "a tag for a definition that is used without it elsewhere": (
        changed(
            BlockText=model(), Also=model(a=ref("BlockText")), Block={"anyOf": [tagged("type", "text", "BlockText")]}
        ),
        "/$defs/Block/anyOf/0",
        "used without the tag",
    ),
}
NAMES: dict[str, Case] = {
    "a key that its attribute doesn't give back": (
        changed(Text=model(fooBar=STRING, foo_bar=STRING)),
        "/$defs/Text/properties/foo_bar",
        "no Python name",
    ),
    "a key without letters": (changed(Text=model(**{"$": STRING})), "/$defs/Text/properties/$", "no Python name"),
    "a key with a hyphen": (changed(Text=model(**{"a-b": STRING})), "/$defs/Text/properties/a-b", "no Python name"),
    "a key that begins with a digit": (
        changed(Text=model(**{"2d": STRING})),
        "/$defs/Text/properties/2d",
        "no Python name",
    ),
    "a key with a slash": (changed(Text=model(**{"a/b~": STRING})), "/$defs/Text/properties/a~1b~0", "no Python name"),
    "a definition in lower case": (changed(text=model()), "/$defs/text", "name of a class"),
    "a definition called None": (changed(**{"None": model()}), "/$defs/None", "name of a class"),
}
