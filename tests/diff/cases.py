"""Small changes with what the report is to say of each, written by hand.

A verdict is five letters: old peer, new peer, build, read, implement; (B)reaking, (R)isky or (S)afe. The two JSON
values are what each side may send at its worst: whether the other side's bindings read it is the proof of the first
two letters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.codegen.build import STRING, Schema, model, other, part_of, ref, tagged

# Where a change stands: the definition it is in, and which way that goes.
TARGETS = {
    "request": ("NewSessionRequest", "client->agent"),
    "result": ("NewSessionResponse", "agent->client"),
    "update": ("SessionNotification", "agent->client"),
    "alone": ("Alone", "none"),
}
INT: Schema = {"type": "integer", "format": "int32"}
UINT: Schema = {"type": "integer", "format": "uint32", "minimum": 0}
LONG: Schema = {"type": "integer", "format": "int64"}
MAYBE: Schema = {"type": ["string", "null"]}
LIST: Schema = {"type": "array", "items": STRING}
ON_ERROR = {"x-deserialize-default-on-error": True}
ON_NULL = {"x-deserialize-default-on-null": True}
SKIP = {"x-deserialize-skip-invalid-items": True}


@dataclass(frozen=True)
class Case:
    """One change: definitions before and after, the finding it is, and what each side sends."""

    name: str
    place: str
    old: Schema
    new: Schema
    rule: str
    letters: str
    old_json: Any = None
    new_json: Any = None
    also: tuple[str, ...] = ()
    old_extra: Schema = field(default_factory=dict[str, Any])
    new_extra: Schema = field(default_factory=dict[str, Any])

    @property
    def target(self) -> str:
        return TARGETS[self.place][0]

    @property
    def flow(self) -> str:
        return TARGETS[self.place][1]

    def definitions(self, side: str) -> Schema:
        own: Schema = self.old if side == "old" else self.new
        return around(self.place, own) | (self.old_extra if side == "old" else self.new_extra)


def around(place: str, definition: Schema) -> Schema:
    """A definition where it stands, with the methods that carry it."""
    parts = {"request": model(), "result": model(), "update": model(), place: definition}
    found = {
        "NewSessionRequest": part_of("session/new", "agent", parts["request"]),
        "NewSessionResponse": part_of("session/new", "agent", parts["result"]),
        "SessionNotification": part_of("session/update", "client", parts["update"]),
    }
    return found | ({"Alone": definition} if place == "alone" else {})


def enum(*values: str, opened: bool = False) -> Schema:
    members: list[Schema] = [{"type": "string", "const": value} for value in values]
    return {"anyOf": [*members, {"title": "other", **STRING}]} if opened else {"oneOf": members}


def union(*tags: str, opened: bool = False) -> Schema:
    """A union of members that hold a text each; a closed one has a member `k` besides."""
    members = [tagged("type", each, "Text") for each in (tags if opened else (*tags, "k"))]
    if opened:
        return {"anyOf": [*members, other("type", *tags)]}
    return {"oneOf": members, "discriminator": {"propertyName": "type"}}


def holds(definition: Schema, required: bool = True, **keywords: Any) -> Schema:
    """An object with the property `x`."""
    schema = {**definition, **keywords}
    return model(["x"], x=schema) if required else model(x=schema)


def may(definition: Schema, **keywords: Any) -> Schema:
    return holds(definition, required=False, **keywords)


def titled(*titles: str) -> Schema:
    """A union of members without a tag: the first holds `a`, the second `b`."""
    keys = zip(titles, "ab", strict=True)
    return {"anyOf": [{"title": title, **model([key], **{key: STRING})} for title, key in keys]}


def inline(tag: str) -> Schema:
    """A member that says itself what `Text` says."""
    return model(["type", "text"], type={"type": "string", "const": tag}, text=STRING)


SHORT: Schema = {"type": "integer", "minimum": 0, "maximum": 65535}
TEXT: Schema = {"Text": model(["text"], text=STRING)}
KIND = holds(ref("Kind"))
SOFT_KIND = may({"anyOf": [ref("Kind"), {"type": "null"}]}, **ON_ERROR)
BLOCK = holds(ref("Block"))
BLOCKS = holds({"type": "array", "items": ref("Block")})
SOFT_BLOCKS = holds({"type": "array", "items": ref("Block")}, **SKIP)


def _kinds(old: Schema, new: Schema) -> dict[str, Any]:
    return {"old_extra": {"Kind": old}, "new_extra": {"Kind": new}}


def _blocks(old: Schema, new: Schema) -> dict[str, Any]:
    return {"old_extra": {**TEXT, "Block": old}, "new_extra": {**TEXT, "Block": new}}


A, B = {"x": {"type": "a", "text": "t"}}, {"x": {"type": "b", "text": "t"}}
AS, BS = {"x": [A["x"]]}, {"x": [B["x"]]}

CASES = [
    # Properties that come and go
    Case("required added", "request", model(), holds(STRING), "property-required-added", "SBBSS", {}, {"x": "a"}),
    Case("required added", "result", model(), holds(STRING), "property-required-added", "SBBSS", {}, {"x": "a"}),
    Case("required added", "update", model(), holds(STRING), "property-required-added", "SBBSS", {}, {"x": "a"}),
    Case("required added", "alone", model(), holds(STRING), "property-required-added", "SSBSS"),
    Case("optional added", "request", model(), may(MAYBE), "property-optional-added", "SSSSS", {}, {"x": "a"}),
    Case("optional added", "result", model(), may(MAYBE), "property-optional-added", "SSSSS", {}, {"x": None}),
    Case("optional added", "update", model(), may(MAYBE), "property-optional-added", "SSSSS", {}, {"x": "a"}),
    Case("required removed", "request", holds(STRING), model(), "property-required-removed", "BRBBS", {"x": "a"}, {}),
    Case("required removed", "result", holds(STRING), model(), "property-required-removed", "BRBBS", {"x": "a"}, {}),
    Case("required removed", "alone", holds(STRING), model(), "property-required-removed", "SSBBS"),
    Case("optional removed", "request", may(MAYBE), model(), "property-optional-removed", "SRBBS", {"x": "a"}, {}),
    Case("optional removed", "update", may(MAYBE), model(), "property-optional-removed", "SRBBS", {"x": "a"}, {}),
    Case(
        "required renamed",
        "request",
        model(["workDir"], workDir=STRING),
        model(["workingDir"], workingDir=STRING),
        "property-required-renamed",
        "BBBBS",
        {"workDir": "a"},
        {"workingDir": "a"},
    ),
    Case(
        "required renamed",
        "result",
        model(["workDir"], workDir=STRING),
        model(["workingDir"], workingDir=STRING),
        "property-required-renamed",
        "BBBBS",
        {"workDir": "a"},
        {"workingDir": "a"},
    ),
    Case(
        "optional renamed",
        "update",
        model(workDir=MAYBE),
        model(workingDir=MAYBE),
        "property-optional-renamed",
        "RRBBS",
        {"workDir": "a"},
        {"workingDir": "a"},
    ),
    # Need
    Case("became required", "request", may(STRING), holds(STRING), "property-became-required", "SBBSS", {}, {"x": "a"}),
    Case("became required", "result", may(STRING), holds(STRING), "property-became-required", "SBBSS", {}, {"x": "a"}),
    Case("became optional", "request", holds(STRING), may(STRING), "property-became-optional", "BSSBS", {"x": "a"}, {}),
    Case("became optional", "update", holds(STRING), may(STRING), "property-became-optional", "BSSBS", {"x": "a"}, {}),
    Case("list became optional", "result", holds(LIST), may(LIST), "property-became-optional", "BSSSS", {"x": []}, {}),
    Case(
        "nullable became optional",
        "result",
        holds(MAYBE),
        may(MAYBE),
        "property-became-optional",
        "BSSSS",
        {"x": None},
        {},
    ),
    # Null
    Case("null added", "request", holds(STRING), holds(MAYBE), "nullable-added", "BSSBS", {"x": "a"}, {"x": None}),
    Case("null added", "result", may(STRING), may(MAYBE), "nullable-added", "BSSBS", {"x": "a"}, {"x": None}),
    Case("null removed", "request", holds(MAYBE), holds(STRING), "nullable-removed", "SBBSS", {"x": None}, {"x": "a"}),
    Case("null removed", "update", may(MAYBE), may(STRING), "nullable-removed", "SBBSS", {"x": None}, {"x": "a"}),
    Case(
        "null added where bad values give way",
        "update",
        may(STRING, **ON_ERROR),
        may(MAYBE, **ON_ERROR),
        "nullable-added",
        "RSSBS",
        {"x": "a"},
        {"x": None},
    ),
    Case(
        "null removed where bad values give way",
        "request",
        may(MAYBE, **ON_ERROR),
        may(STRING, **ON_ERROR),
        "nullable-removed",
        "SRBSS",
        {"x": None},
        {"x": "a"},
    ),
    # Types
    Case("type changed", "request", holds(STRING), holds(INT), "type-changed", "BBBBS", {"x": "a"}, {"x": 1}),
    Case("type changed", "result", holds(STRING), holds(INT), "type-changed", "BBBBS", {"x": "a"}, {"x": 1}),
    Case("type changed", "alone", holds(STRING), holds(INT), "type-changed", "SSBBS"),
    Case(
        "type changed where bad values give way",
        "result",
        may(STRING, **ON_ERROR),
        may(INT, **ON_ERROR),
        "type-changed",
        "RRBBS",
        {"x": "a"},
        {"x": 1},
    ),
    Case(
        "type widened to one of two",
        "update",
        holds(INT),
        holds({"anyOf": [INT, STRING]}),
        "type-changed",
        "BSSBS",
        {"x": 1},
        {"x": "a"},
    ),
    Case(
        "type narrowed to one of two",
        "request",
        holds({"anyOf": [INT, STRING]}),
        holds(INT),
        "type-changed",
        "SBBSS",
        {"x": "a"},
        {"x": 1},
    ),
    Case("type became anything", "result", holds(STRING), holds({}), "type-changed", "BSSBS", {"x": "a"}, {"x": 1}),
    Case(
        "item's type changed",
        "request",
        holds(LIST),
        holds({"type": "array", "items": INT}),
        "type-changed",
        "BBBBS",
        {"x": ["a"]},
        {"x": [1]},
    ),
    Case(
        "item's type changed where items give way",
        "result",
        holds(LIST, **SKIP),
        holds({"type": "array", "items": INT}, **SKIP),
        "type-changed",
        "RRBBS",
        {"x": ["a"]},
        {"x": [1]},
    ),
    Case(
        "an alias's type changed",
        "request",
        KIND,
        KIND,
        "type-changed",
        "BBBBS",
        {"x": "a"},
        {"x": 1},
        **_kinds(STRING, INT),
    ),
    # Constraints
    Case("wider integer", "request", holds(INT), holds(LONG), "constraint-loosened", "BSSSS", {"x": 1}, {"x": 2**40}),
    Case(
        "narrower integer", "request", holds(LONG), holds(INT), "constraint-tightened", "SBRSS", {"x": 2**40}, {"x": 1}
    ),
    Case(
        "narrower integer", "result", holds(LONG), holds(INT), "constraint-tightened", "SBRSS", {"x": 2**40}, {"x": 1}
    ),
    Case(
        "other integer", "update", holds(INT), holds(UINT), "constraint-changed", "BBRSS", {"x": -1}, {"x": 2**32 - 1}
    ),
    Case(
        "length added",
        "request",
        holds(STRING),
        holds(STRING, minLength=1),
        "constraint-tightened",
        "SBRSS",
        {"x": ""},
        {"x": "a"},
    ),
    Case(
        "length removed",
        "request",
        holds(STRING, minLength=1),
        holds(STRING),
        "constraint-loosened",
        "BSSSS",
        {"x": "a"},
        {"x": ""},
    ),
    Case(
        "items needed",
        "result",
        holds(LIST),
        holds(LIST, minItems=1),
        "constraint-tightened",
        "SBRSS",
        {"x": []},
        {"x": ["a"]},
    ),
    Case(
        "pattern removed",
        "update",
        holds(STRING, pattern="^a$"),
        holds(STRING),
        "constraint-loosened",
        "BSSSS",
        {"x": "a"},
        {"x": "b"},
    ),
    Case(
        "narrower where bad values give way",
        "update",
        may(LONG, **ON_ERROR),
        may(INT, **ON_ERROR),
        "constraint-tightened",
        "SRRSS",
        {"x": 2**40},
        {"x": 1},
    ),
    # Defaults
    Case(
        "default added",
        "request",
        may({"type": "boolean"}),
        may({"type": "boolean"}, default=True),
        "property-default-added",
        "RRSRS",
        {},
        {},
    ),
    Case(
        "default changed",
        "result",
        may({"type": "boolean"}, default=False),
        may({"type": "boolean"}, default=True),
        "property-default-changed",
        "RRSRS",
        {},
        {},
    ),
    Case(
        "default removed",
        "update",
        may({"type": "boolean"}, default=True),
        may({"type": "boolean"}),
        "property-default-removed",
        "RRSBS",
        {},
        {},
    ),
    # Leniency
    Case(
        "leniency added",
        "request",
        may(STRING),
        may(STRING, **ON_ERROR),
        "property-leniency-added",
        "SSSSS",
        {"x": "a"},
        {"x": "a"},
    ),
    Case(
        "leniency added for null",
        "request",
        holds(LIST),
        holds(LIST, **ON_NULL),
        "property-leniency-added",
        "SSSSS",
        {"x": []},
        {"x": []},
    ),
    Case(
        "leniency removed",
        "request",
        may(STRING, **ON_ERROR),
        may(STRING),
        "property-leniency-removed",
        "SRSSS",
        {"x": "a"},
        {"x": "a"},
    ),
    Case(
        "leniency of items removed",
        "result",
        holds(LIST, **SKIP),
        holds(LIST),
        "property-leniency-removed",
        "SRSSS",
        {"x": ["a"]},
        {"x": ["a"]},
    ),
    # Enums
    Case(
        "closed enum's new value",
        "request",
        KIND,
        KIND,
        "enum-closed-value-added",
        "BSSBS",
        {"x": "a"},
        {"x": "c"},
        **_kinds(enum("a", "b"), enum("a", "b", "c")),
    ),
    Case(
        "closed enum's new value",
        "result",
        KIND,
        KIND,
        "enum-closed-value-added",
        "BSSBS",
        {"x": "a"},
        {"x": "c"},
        **_kinds(enum("a", "b"), enum("a", "b", "c")),
    ),
    Case(
        "closed enum's new value where bad values give way",
        "update",
        SOFT_KIND,
        SOFT_KIND,
        "enum-closed-value-added",
        "RSSBS",
        {"x": "a"},
        {"x": "c"},
        **_kinds(enum("a", "b"), enum("a", "b", "c")),
    ),
    Case(
        "open enum's new value",
        "request",
        KIND,
        KIND,
        "enum-open-value-added",
        "SSSSS",
        {"x": "z"},
        {"x": "c"},
        **_kinds(enum("a", "b", opened=True), enum("a", "b", "c", opened=True)),
    ),
    Case(
        "open enum's new value",
        "update",
        KIND,
        KIND,
        "enum-open-value-added",
        "SSSSS",
        {"x": "z"},
        {"x": "c"},
        **_kinds(enum("a", "b", opened=True), enum("a", "b", "c", opened=True)),
    ),
    Case(
        "closed enum's value removed",
        "request",
        KIND,
        KIND,
        "enum-closed-value-removed",
        "SBBRS",
        {"x": "c"},
        {"x": "a"},
        **_kinds(enum("a", "b", "c"), enum("a", "b")),
    ),
    Case(
        "closed enum's value removed where bad values give way",
        "result",
        SOFT_KIND,
        SOFT_KIND,
        "enum-closed-value-removed",
        "SRBRS",
        {"x": "c"},
        {"x": "a"},
        **_kinds(enum("a", "b", "c"), enum("a", "b")),
    ),
    Case(
        "open enum's value removed",
        "result",
        KIND,
        KIND,
        "enum-open-value-removed",
        "SRSSS",
        {"x": "c"},
        {"x": "a"},
        **_kinds(enum("a", "b", "c", opened=True), enum("a", "b", opened=True)),
    ),
    Case(
        "enum opened",
        "request",
        KIND,
        KIND,
        "enum-opened",
        "BSSBS",
        {"x": "a"},
        {"x": "z"},
        **_kinds(enum("a", "b"), enum("a", "b", opened=True)),
    ),
    Case(
        "enum opened",
        "update",
        KIND,
        KIND,
        "enum-opened",
        "BSSBS",
        {"x": "a"},
        {"x": "z"},
        **_kinds(enum("a", "b"), enum("a", "b", opened=True)),
    ),
    Case(
        "enum closed",
        "request",
        KIND,
        KIND,
        "enum-closed",
        "SBBSS",
        {"x": "z"},
        {"x": "a"},
        **_kinds(enum("a", "b", opened=True), enum("a", "b")),
    ),
    # Unions
    Case(
        "closed union's new member",
        "request",
        BLOCK,
        BLOCK,
        "union-closed-member-added",
        "BSSBS",
        A,
        B,
        **_blocks(union("a"), union("a", "b")),
    ),
    Case(
        "closed union's new member",
        "update",
        BLOCK,
        BLOCK,
        "union-closed-member-added",
        "BSSBS",
        A,
        B,
        **_blocks(union("a"), union("a", "b")),
    ),
    Case(
        "closed union's new member in a list",
        "update",
        BLOCKS,
        BLOCKS,
        "union-closed-member-added",
        "BSSBS",
        AS,
        BS,
        **_blocks(union("a"), union("a", "b")),
    ),
    Case(
        "closed union's new member where items give way",
        "update",
        SOFT_BLOCKS,
        SOFT_BLOCKS,
        "union-closed-member-added",
        "RSSBS",
        AS,
        BS,
        **_blocks(union("a"), union("a", "b")),
    ),
    Case(
        "open union's new member",
        "request",
        BLOCK,
        BLOCK,
        "union-open-member-added",
        "SSSSS",
        A,
        B,
        **_blocks(union("a", opened=True), union("a", "b", opened=True)),
    ),
    Case(
        "open union's new member",
        "result",
        BLOCK,
        BLOCK,
        "union-open-member-added",
        "SSSSS",
        A,
        B,
        **_blocks(union("a", opened=True), union("a", "b", opened=True)),
    ),
    Case(
        "closed union's member removed",
        "request",
        BLOCK,
        BLOCK,
        "union-closed-member-removed",
        "SBBBS",
        B,
        A,
        **_blocks(union("a", "b"), union("a")),
    ),
    Case(
        "closed union's member removed where items give way",
        "result",
        SOFT_BLOCKS,
        SOFT_BLOCKS,
        "union-closed-member-removed",
        "SRBBS",
        BS,
        AS,
        **_blocks(union("a", "b"), union("a")),
    ),
    Case(
        "open union's member removed",
        "update",
        BLOCK,
        BLOCK,
        "union-open-member-removed",
        "SRBBS",
        B,
        A,
        **_blocks(union("a", "b", opened=True), union("a", opened=True)),
    ),
    Case(
        "union opened",
        "request",
        BLOCK,
        BLOCK,
        "union-opened",
        "BSSBS",
        A,
        {"x": {"type": "z"}},
        **_blocks(union("a"), union("a", "k", opened=True)),
    ),
    Case(
        "union opened",
        "update",
        BLOCK,
        BLOCK,
        "union-opened",
        "BSSBS",
        A,
        {"x": {"type": "z"}},
        **_blocks(union("a"), union("a", "k", opened=True)),
    ),
    Case(
        "union closed",
        "request",
        BLOCK,
        BLOCK,
        "union-closed",
        "SBBBS",
        {"x": {"type": "z"}},
        A,
        **_blocks(union("a", "k", opened=True), union("a")),
    ),
    Case(
        "union's member retagged",
        "result",
        BLOCK,
        BLOCK,
        "union-member-retagged",
        "BBBBS",
        B,
        {"x": {"type": "c", "text": "t"}},
        **_blocks(union("a", "b"), union("a", "c")),
    ),
    Case(
        "union's tag changed",
        "request",
        BLOCK,
        BLOCK,
        "union-tag-changed",
        "BBBBS",
        A,
        {"x": {"kind": "a", "text": "t"}},
        **_blocks(
            union("a"),
            {
                "oneOf": [tagged("kind", "a", "Text"), tagged("kind", "k", "Text")],
                "discriminator": {"propertyName": "kind"},
            },
        ),
    ),
    # Definitions
    Case(
        "definition renamed",
        "request",
        holds(ref("Kind")),
        holds(ref("Sort")),
        "definition-renamed",
        "SSBBS",
        {"x": "a"},
        {"x": "b"},
        old_extra={"Kind": enum("a", "b")},
        new_extra={"Sort": enum("a", "b")},
    ),
    Case(
        "object became a union",
        "update",
        BLOCK,
        BLOCK,
        "definition-kind-changed",
        "BBBBS",
        {"x": {"text": "t"}},
        {"x": {"type": "a"}},
        old_extra={"Block": model(["text"], text=STRING)},
        new_extra={
            "Block": {"oneOf": [tagged("type", "a"), tagged("type", "k")], "discriminator": {"propertyName": "type"}}
        },
    ),
    Case(
        "definition added",
        "request",
        model(),
        model(),
        "definition-added",
        "SSSSS",
        {},
        {},
        new_extra={"Kind": enum("a")},
    ),
    Case(
        "definition removed",
        "request",
        model(),
        model(),
        "definition-removed",
        "SSBBS",
        {},
        {},
        old_extra={"Kind": enum("a")},
    ),
    # What stays the same on the wire, or nearly
    Case(
        "integer written differently",
        "request",
        holds({**SHORT, "format": "uint16"}),
        holds(SHORT),
        "type-respelled",
        "SSSSS",
        {"x": 1},
        {"x": 65535},
    ),
    Case(
        "room for other keys",
        "result",
        model(),
        {**model(), "additionalProperties": True},
        "definition-openness-changed",
        "SSSSS",
        {},
        {"y": 1},
    ),
    Case(
        "member of another title",
        "request",
        BLOCK,
        BLOCK,
        "union-member-renamed",
        "SSBBS",
        {"x": {"b": "t"}},
        {"x": {"b": "t"}},
        **_blocks(titled("One", "Two"), titled("One", "Three")),
    ),
    Case(
        "members in another order",
        "update",
        BLOCK,
        BLOCK,
        "union-order-changed",
        "RRSRS",
        {"x": {"b": "t"}},
        {"x": {"a": "t"}},
        **_blocks(titled("One", "Two"), {"anyOf": titled("One", "Two")["anyOf"][::-1]}),
    ),
    Case(
        "exactly one member",
        "request",
        BLOCK,
        BLOCK,
        "union-choice-changed",
        "RRSSS",
        {"x": {"b": "t"}},
        {"x": {"a": "t"}},
        **_blocks(titled("One", "Two"), {"oneOf": titled("One", "Two")["anyOf"]}),
    ),
    Case(
        "member wraps a definition",
        "result",
        BLOCK,
        BLOCK,
        "definition-base-changed",
        "SSSRS",
        {"x": {"type": "a", "text": "t"}},
        {"x": {"type": "a", "text": "t"}},
        also=("property-moved",),
        old_extra={**TEXT, "Block": {**union("a"), "oneOf": [inline("a"), tagged("type", "k", "Text")]}},
        new_extra={**TEXT, "Block": union("a")},
    ),
]
