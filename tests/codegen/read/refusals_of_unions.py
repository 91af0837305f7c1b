"""Unions and names that stop the generator, each with the pointer and words of its error."""

from __future__ import annotations

from typing import Any

from codegen.nodes import escape
from tests.support.codegen.build import STRING, Schema, model, other, ref, tagged, wraps
from tests.support.codegen.refusal_base import Case, at, changed


def block(place: str, words: str, *members: Schema, **keywords: Any) -> Case:
    """Return a case in which the union `Block` has these members and keywords. The error is at a place in it."""
    union = {"anyOf": [*members]} if members else {"oneOf": [A]}
    return changed(Block=union | keywords), f"/$defs/Block{place}", words


def key(name: str) -> Case:
    """Return a case in which a property has no Python name. `name` is its key."""
    pointer = f"/$defs/Text/properties/{escape(name)}"
    return changed(Text=model(**{"fooBar": STRING, name: STRING})), pointer, "no Python name"


def numbered(value: int) -> Schema:
    return model(["type"], type={"type": "integer", "const": value})


TEXT = model(["text"], text=STRING)
NONE: Schema = {"title": "none", **model(type={"type": "null"})}
EXCLUDING: Schema = {"not": {"anyOf": [tagged("type", "b")]}, "additionalProperties": True}
A, B = tagged("type", "a", "Text"), tagged("type", "b", "Text")
UNIONS: dict[str, Case] = {
    "two tags": block("", "several constants", A, tagged("kind", "b", "Text")),
    "one tag twice": block("", "have the tag 'a'", A, tagged("type", "a", description="Again.")),
    "a tag beside the members, none of which has null as its tag": block(
        "", "no member has null as its tag", A, B, **model(type=STRING)
    ),
    "a member with neither tag nor title": block("/anyOf/0", "a title", wraps("Text"), wraps("Holder")),
    "an open member that excludes too little": block("/anyOf/2/not", "it doesn't exclude b.", A, B, other("type", "a")),
    "a member that isn't open but excludes tags": block(
        "/anyOf/1",
        "Expected an open member",
        A,
        {key: value for key, value in other("type", "a").items() if key != "additionalProperties"},
    ),
    "a definition that excludes one value of a key": (
        changed(Text={**TEXT, "not": tagged("type", "a")}),
        "/$defs/Text",
        "Expected an open member",
    ),
    "a constant tag that is also a reference": block(
        "/anyOf/0/properties/type",
        "Expected a constant as the tag, found a reference",
        model(["type"], type={**ref("Kind"), "const": "a"}),
    ),
    "a constant tag on a member that excludes tags": block(
        "/anyOf/0/not", "`not` on a member with a constant tag", tagged("type", "a") | EXCLUDING, B
    ),
    "an untagged member that excludes tags": block(
        "/anyOf/0/not",
        "except on the open member of a tagged union",
        {"title": "a", **model(["kind"], kind=STRING), **EXCLUDING},
        {"title": "b", **wraps("Text")},
    ),
    "an open member that doesn't require the tag": block(
        "/anyOf/1/required", "to require the tag 'type'", A, other("type", "a") | {"required": []}
    ),
    "null as the tag of a member that requires it": block(
        "/anyOf/1/required", "a null 'type' that is required", A, NONE | {"required": ["type"]}
    ),
    "a tag beside the members that is not a string": block(
        "/properties/type", "Expected an optional string as the tag", A, NONE, **model(type={"type": "integer"})
    ),
    "a tag that the union itself requires": block(
        "/required", "a tag ('type') that the union itself requires", A, NONE, **model(["type"], type=STRING)
    ),
    "a title beside a constant tag": block("/anyOf/0/title", "a title beside a tag", A | {"title": "A"}, B),
    "a member that adds a tag to an enum": block(
        "/anyOf/0", "adding properties to Kind, which is not an object", tagged("type", "a", "Kind")
    ),
    "a union that wraps a definition": block("", "both wraps a definition and is a union", A, B, **wraps("Holder")),
    "members with numbers as their constants": block("/anyOf/0", "a title", *map(numbered, (1, 2))),
    "an open member that excludes a constant that is not a string": (
        at("/$defs/Block/anyOf/1/not/anyOf/0/properties/type", const=[]),
        "/$defs/Block/anyOf/1/not/anyOf/0",
        "one constant tag",
    ),
    "a discriminator without a name": block("/discriminator", "`propertyName`", discriminator={"propertyName": []}),
    "a discriminator that no member has": block("/discriminator", "No member", discriminator={"propertyName": "kind"}),
    "a mapping to another definition": block(
        "", "refers to Holder", discriminator={"propertyName": "type", "mapping": {"a": "Holder"}}
    ),
    "a oneOf with a tag and a member that may have it": block(
        "/oneOf", "no tag", oneOf=[A, {"title": "b", **wraps("Holder")}]
    ),
    "a oneOf of unions": (
        changed(Either={"oneOf": [{"title": "a", **wraps("Block")}, {"title": "b", **wraps("Text")}]}),
        "/$defs/Either/oneOf",
        "`oneOf` over unions",
    ),
    "a oneOf of types with common values": (
        changed(Kind={"oneOf": [STRING, {"type": "string", "const": "a"}]}),
        "/$defs/Kind",
        "no value in common",
    ),
    "a oneOf of null and what may be null": (
        changed(Kind={"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}),
        "/$defs/Kind",
        "no value in common",
    ),
    "a oneOf of two definitions that aren't objects": (
        changed(Kind={"oneOf": [ref("Sort"), ref("Other")]}, Sort=STRING, Other=STRING),
        "/$defs/Kind",
        "no value in common",
    ),
    "anyOf beside oneOf": (at("/$defs/Kind", anyOf=[STRING]), "/$defs/Kind", "beside"),
    "a union of nothing": (changed(Kind={"anyOf": []}), "/$defs/Kind/anyOf", "Expected a list of different schemas"),
    "a property of both a member and the union": block(
        "/anyOf/0/properties/a",
        "whole union",
        model(["type"], a=STRING, type={"type": "string", "const": "x"}),
        NONE,
        **model(type=STRING, a=STRING),
    ),
    "a tag that the wrapped definition has": block("/anyOf/0", "which this wraps", tagged("text", "a", "Text")),
    "two members with the same name": block(
        "/anyOf/1", "already the name", tagged("type", "a_b"), tagged("type", "aB")
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
    **{f"the key {path}": key(path) for path in ("foo_bar", "$", "a-b", "2d", "a/b~")},
    "a definition in lower case": (changed(text=model()), "/$defs/text", "name of a class"),
    "a definition called None": (changed(**{"None": model()}), "/$defs/None", "name of a class"),
}
