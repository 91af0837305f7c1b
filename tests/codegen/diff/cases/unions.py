"""Changes of unions, closed and open, with and without tags."""

from __future__ import annotations

from typing import Any

from tests.support.codegen.build import STRING, Schema, model, other, ref, tagged
from tests.support.diff.cases import BLOCK, SKIP, Case, holds

TEXT: Schema = {"Text": model(["text"], text=STRING)}
BLOCKS = holds({"type": "array", "items": ref("Block")})
SOFT_BLOCKS = holds({"type": "array", "items": ref("Block")}, **SKIP)


def union(*tags: str, opened: bool = False) -> Schema:
    """Return a union of members with a text each. A closed one has another member, `k`."""
    members = [tagged("type", each, "Text") for each in (tags if opened else (*tags, "k"))]
    if opened:
        return {"anyOf": [*members, other("type", *tags)]}
    return {"oneOf": members, "discriminator": {"propertyName": "type"}}


def titled(*titles: str) -> Schema:
    """Return a union of two members without a tag: the first has the property `a`, the second `b`."""
    keys = zip(titles, "ab", strict=True)
    return {"anyOf": [{"title": title, **model([key], **{key: STRING})} for title, key in keys]}


def inline(tag: str) -> Schema:
    """Return a member with the same property as `Text`, written inline."""
    return model(["type", "text"], type={"type": "string", "const": tag}, text=STRING)


def with_text(tag: str) -> Schema:
    """Return a member that wraps `Text` and has a property `text` of its own."""
    return tagged("type", tag, "Text", properties={"type": {"type": "string", "const": tag}, "text": STRING})


def _blocks(old: Schema, new: Schema) -> dict[str, Any]:
    return {"old_extra": {**TEXT, "Block": old}, "new_extra": {**TEXT, "Block": new}}


A, B = {"x": {"type": "a", "text": "t"}}, {"x": {"type": "b", "text": "t"}}
AS, BS = {"x": [A["x"]]}, {"x": [B["x"]]}

CASES = [
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
        "closed union's new member where invalid items are skipped",
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
        "closed union's member removed where invalid items are skipped",
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
    Case(
        "union's member renamed",
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
        "union's members in another order",
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
        "exactly one member must match",
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
        old_extra={**TEXT, "Block": {**union("a"), "oneOf": [inline("a"), tagged("type", "k", "Text")]}},
        new_extra={**TEXT, "Block": union("a")},
    ),
    Case(
        "member's own property moves to what it wraps",
        "result",
        BLOCK,
        BLOCK,
        "property-moved",
        "SSSSS",
        {"x": {"type": "a", "text": "t"}},
        {"x": {"type": "a", "text": "t"}},
        also=("property-optional-added",),
        old_extra={"Text": model(), "Block": {**union("a"), "oneOf": [with_text("a"), tagged("type", "k", "Text")]}},
        new_extra={"Text": model(text=STRING), "Block": union("a")},
    ),
]
