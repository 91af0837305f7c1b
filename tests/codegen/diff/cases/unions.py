"""Changes of unions, closed and open, with and without tags."""

from __future__ import annotations

from typing import Any

from tests.support.codegen.build import STRING, Schema, model, other, ref, tagged, wraps
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
    """Return a union of members without a tag: the first has the property `a`, the second `b`, the third `c`."""
    keys = zip(titles, "abc", strict=False)
    return {"anyOf": [{"title": title, **model([key], **{key: STRING})} for title, key in keys]}


def loose(union: Schema, key: str = "a") -> Schema:
    """Return a union of titled members in which that with a property doesn't require it."""
    ((keyword, members),) = union.items()
    kept = [
        {name: each[name] for name in each if name != "required" or key not in each["properties"]} for each in members
    ]
    return {keyword: kept}


def fallback(*tags: str, last: Schema | None = None) -> Schema:
    """Return a union of members with these tags, and of a last one, by default `Text` without a tag."""
    return {"anyOf": [*(tagged("type", each, "Text") for each in tags), last or {"title": "Plain", **wraps("Text")}]}


def inline(tag: str) -> Schema:
    """Return a member with the same property as `Text`, written inline."""
    return model(["type", "text"], type={"type": "string", "const": tag}, text=STRING)


def with_text(tag: str) -> Schema:
    """Return a member that wraps `Text` and has a property `text` of its own."""
    return tagged("type", tag, "Text", properties={"type": {"type": "string", "const": tag}, "text": STRING})


def case(
    name: str,
    rule: str,
    letters: str,
    unions: tuple[Schema, Schema],
    values: tuple[Any, Any],
    place: str = "request",
    on: Schema = BLOCK,
) -> Case:
    """Return a case in which a definition, `on`, holds a union, and each side sends one value."""
    old, new = ({**TEXT, "Block": each} for each in unions)
    return Case(name, place, on, on, rule, letters, *values, old_extra=old, new_extra=new)


def blocks(old: Schema, new: Schema, **others: Schema) -> dict[str, Any]:
    """Return the union on both sides, for a case."""
    return {"old_extra": {**others, "Block": old}, "new_extra": {**others, "Block": new}}


def texts(old: Schema, new: Schema) -> dict[str, Any]:
    return blocks(old, new, **TEXT)


PLAIN = tagged("type", "plain", "Text")
EITHER = holds({"anyOf": [ref("One"), ref("Two")]})
LISTS = holds({"anyOf": [{"type": "array", "items": ref(name)} for name in ("One", "Two")]})
A, B = {"x": {"type": "a", "text": "t"}}, {"x": {"type": "b", "text": "t"}}
AS, BS = {"x": [A["x"]]}, {"x": [B["x"]]}
C, Z = {"x": {"type": "c", "text": "t"}}, {"x": {"type": "z"}}
KEY_A, KEY_B = {"x": {"a": "t"}}, {"x": {"b": "t"}}
ONE, TWO = union("a"), union("a", "b")
OPEN_ONE, OPEN_TWO, OPENED = union("a", opened=True), union("a", "b", opened=True), union("a", "k", opened=True)
PAIR = titled("One", "Two")
BY_KIND: Schema = {
    "oneOf": [tagged("kind", "a", "Text"), tagged("kind", "k", "Text")],
    "discriminator": {"propertyName": "kind"},
}

CASES = [
    case("closed union's new member", "union-closed-member-added", "BSSBS", (ONE, TWO), (A, B)),
    case("new member in a list", "union-closed-member-added", "BSSBS", (ONE, TWO), (AS, BS), "update", BLOCKS),
    case("tolerated new member", "union-closed-member-added", "RSSBS", (ONE, TWO), (AS, BS), "update", SOFT_BLOCKS),
    case("open union's new member", "union-open-member-added", "SSSSS", (OPEN_ONE, OPEN_TWO), (A, B), "result"),
    case("closed union's member removed", "union-closed-member-removed", "SBBBS", (TWO, ONE), (B, A)),
    case(
        "tolerated member removed", "union-closed-member-removed", "SRBBS", (TWO, ONE), (BS, AS), "result", SOFT_BLOCKS
    ),
    case("open union's member removed", "union-open-member-removed", "SRBBS", (OPEN_TWO, OPEN_ONE), (B, A), "update"),
    case("union opened", "union-opened", "BSSBS", (ONE, OPENED), (A, Z)),
    case("union closed", "union-closed", "SBBBS", (OPENED, ONE), (Z, A)),
    case("union's member retagged", "union-member-retagged", "BBBBS", (TWO, union("a", "c")), (B, C), "result"),
    case("union's tag changed", "union-tag-changed", "BBSBS", (ONE, BY_KIND), (A, {"x": {"kind": "a", "text": "t"}})),
    case("union's member renamed", "union-member-renamed", "SSBBS", (PAIR, titled("One", "Three")), (KEY_B, KEY_B)),
    case(
        "union's members in another order",
        "union-order-changed",
        "RRSRS",
        (PAIR, {"anyOf": PAIR["anyOf"][::-1]}),
        (KEY_B, KEY_A),
        "update",
    ),
    case(
        "exactly one member must match",
        "union-choice-changed",
        "RRSSS",
        (PAIR, {"oneOf": PAIR["anyOf"]}),
        (KEY_B, KEY_A),
    ),
    Case(
        "an earlier member's property became optional",
        "update",
        BLOCK,
        BLOCK,
        "union-member-shadowed",
        "SRSRS",
        KEY_B,
        {"x": {}},
        also=("property-became-optional",),
        **blocks(PAIR, loose(PAIR)),
    ),
    Case(
        "another member's property became optional where exactly one matches",
        "update",
        BLOCK,
        BLOCK,
        "union-member-shadowed",
        "SBSRS",
        KEY_B,
        {"x": {}},
        also=("property-became-optional",),
        **blocks({"oneOf": PAIR["anyOf"]}, loose({"oneOf": PAIR["anyOf"]})),
    ),
    Case(
        "an earlier member shadows two",
        "update",
        BLOCK,
        BLOCK,
        "union-member-shadowed",
        "SRSRS",
        {"x": {"c": "t"}},
        {"x": {}},
        also=("property-became-optional",),
        **blocks(titled("One", "Two", "Three"), loose(titled("One", "Two", "Three"))),
    ),
    Case(
        "an earlier member of a property's union is loosened",
        "update",
        EITHER,
        EITHER,
        "union-member-shadowed",
        "SRSRS",
        {"x": {"b": "t"}},
        {"x": {}},
        also=("property-became-optional",),
        old_extra={"One": model(["a"], a=STRING), "Two": model(["b"], b=STRING)},
        new_extra={"One": model(a=STRING), "Two": model(["b"], b=STRING)},
    ),
    Case(
        "an earlier list of a property's union is loosened",
        "result",
        LISTS,
        LISTS,
        "union-member-shadowed",
        "SRSRS",
        {"x": [{"b": "t"}]},
        {"x": [{}]},
        also=("property-became-optional",),
        old_extra={"One": model(["a"], a=STRING), "Two": model(["b"], b=STRING)},
        new_extra={"One": model(a=STRING), "Two": model(["b"], b=STRING)},
    ),
    Case(
        "a new tag beside a member without one",
        "result",
        BLOCK,
        BLOCK,
        "union-closed-member-added",
        "RSSBS",
        A,
        B,
        also=("union-member-shadowed",),
        **texts(fallback("a"), fallback("a", "b")),
    ),
    Case(
        "a tag removed beside a member without one",
        "result",
        BLOCK,
        BLOCK,
        "union-closed-member-removed",
        "SRBBS",
        B,
        A,
        also=("union-member-shadowed",),
        **texts(fallback("a", "b"), fallback("a")),
    ),
    case(
        "the member without a tag gains one",
        "union-member-retagged",
        "SBBBS",
        (fallback("a"), fallback("a", last=PLAIN)),
        ({"x": {"text": "t"}}, {"x": {"type": "plain", "text": "t"}}),
    ),
    Case(
        "a definition named like the member gains its tag",
        "request",
        BLOCK,
        BLOCK,
        "union-member-retagged",
        "SBSSS",
        {"x": {"text": "t"}},
        {"x": {"type": "plain", "text": "t"}},
        **blocks(
            fallback("a", last={"title": "plain", **wraps("BlockPlain")}),
            fallback("a", last=tagged("type", "plain", "BlockPlain")),
            **TEXT,
            BlockPlain=TEXT["Text"],
        ),
    ),
    case(
        "a member loses its tag",
        "union-member-retagged",
        "BSBBS",
        (fallback("a", last=PLAIN), fallback("a")),
        ({"x": {"type": "plain", "text": "t"}}, {"x": {"text": "t"}}),
    ),
    case(
        "member wraps a definition",
        "definition-base-changed",
        "SSSRS",
        ({**ONE, "oneOf": [inline("a"), tagged("type", "k", "Text")]}, ONE),
        (A, A),
        "result",
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
