"""Changes of unions, closed and open, with and without tags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.support.codegen.build import STRING, Schema, array, model, other, ref, tagged, wraps
from tests.support.diff.cases import BLOCK, SKIP, Case, holds

TEXT: Schema = {"Text": model(["text"], text=STRING)}
BLOCKS = holds(array(ref("Block")))
SOFT_BLOCKS = holds(array(ref("Block")), **SKIP)


def union(*tags: str, opened: bool = False) -> Schema:
    """Return a union of members with a text each. A closed one has another member, `k`."""
    members = [tagged("type", tag, "Text") for tag in (tags if opened else (*tags, "k"))]
    if opened:
        return {"anyOf": [*members, other("type", *tags)]}
    return {"oneOf": members, "discriminator": {"propertyName": "type"}}


def titled(*titles: str) -> Schema:
    """Return a union of members without a tag: the first has the property `a`, the second `b`, the third `c`."""
    keys = zip(titles, "abc", strict=False)
    return {"anyOf": [{"title": title, **model([key], **{key: STRING})} for title, key in keys]}


def loose(union: Schema) -> Schema:
    """Return a union of titled members. The one with the property `a` doesn't require it any more."""
    ((keyword, members),) = union.items()
    kept = [
        {name: member[name] for name in member if name != "required" or "a" not in member["properties"]}
        for member in members
    ]
    return {keyword: kept}


def fallback(*tags: str, last: Schema | None = None) -> Schema:
    """Return a union of members with these tags, and of a last one, by default `Text` without a tag."""
    return {"anyOf": [*(tagged("type", tag, "Text") for tag in tags), last or {"title": "Plain", **wraps("Text")}]}


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
    also: str = "",
) -> Case:
    """Return a case in which a definition, `on`, holds a union, and each side sends one value."""
    old, new = ({**TEXT, "Block": union} for union in unions)
    others = (also,) if also else ()
    return Case(name, place, on, on, rule, letters, *values, also=others, old_extra=old, new_extra=new)


def shadowed(name: str, unions: tuple[Schema, Schema], values: tuple[Any, Any], letters: str = "SRSRS") -> Case:
    """Return a case in which an earlier member takes messages of a later one, because it requires less."""
    return case(name, "union-member-shadowed", letters, unions, values, "update", also="property-became-optional")


def loosened(name: str, place: str, holder: Schema, values: tuple[Any, Any]) -> Case:
    """Return a case in which a property's union shadows a member because a definition requires less."""
    parsed = shadowed(name, (PAIR, PAIR), values)
    one, two = model(["a"], a=STRING), model(["b"], b=STRING)
    own = {"old_extra": {"One": one, "Two": two}, "new_extra": {"One": model(a=STRING), "Two": two}}
    return replace(parsed, place=place, old=holder, new=holder, **own)


EITHER = holds({"anyOf": [ref("One"), ref("Two")]})
LISTS = holds({"anyOf": [array(ref(name)) for name in ("One", "Two")]})
A, B = {"x": {"type": "a", "text": "t"}}, {"x": {"type": "b", "text": "t"}}
AS, BS = {"x": [A["x"]]}, {"x": [B["x"]]}
C, Z = {"x": {"type": "c", "text": "t"}}, {"x": {"type": "z"}}
KEY_A, KEY_B = {"x": {"a": "t"}}, {"x": {"b": "t"}}
ONE, TWO = union("a"), union("a", "b")
OPEN_ONE, OPEN_TWO, OPENED = union("a", opened=True), union("a", "b", opened=True), union("a", "k", opened=True)
PAIR, THREE = titled("One", "Two"), titled("One", "Two", "Three")
ONE_OF_PAIR, REVERSED = {"oneOf": PAIR["anyOf"]}, {"anyOf": PAIR["anyOf"][::-1]}
UNTAGGED, TAGGED = fallback("a"), fallback("a", last=tagged("type", "plain", "Text"))
OLD_A = {**ONE, "oneOf": [{**ONE["oneOf"][0], "deprecated": True}, *ONE["oneOf"][1:]]}
OLD_OTHER = {"anyOf": [OPEN_ONE["anyOf"][0], {**OPEN_ONE["anyOf"][1], "deprecated": True}]}
OLD_PLAIN = fallback("a", last={"title": "Plain", **wraps("Text"), "deprecated": True})
RESERVING = {"anyOf": [tagged("type", "a", "Text"), other("type", "a", "reserved")]}
EMPTY, NO_TAG, WITH_TAG = {"x": {}}, {"x": {"text": "t"}}, {"x": {"type": "plain", "text": "t"}}
BOTH = {"anyOf": [{"title": "Both", **model(["a", "b"], a=STRING, b=STRING)}, *PAIR["anyOf"]]}
NAMED: Schema = {**TEXT, "BlockPlain": TEXT["Text"]}
RETAGGED = "union-member-retagged"
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
    case("tolerated removal", "union-closed-member-removed", "SRBBS", (TWO, ONE), (BS, AS), "result", SOFT_BLOCKS),
    case("open union's member removed", "union-open-member-removed", "SRBBS", (OPEN_TWO, OPEN_ONE), (B, A), "update"),
    case("union opened", "union-opened", "BSSBS", (ONE, OPENED), (A, Z)),
    case("union closed", "union-closed", "SBBBS", (OPENED, ONE), (Z, A)),
    case("union's member retagged", RETAGGED, "BBBBS", (TWO, union("a", "c")), (B, C), "result"),
    case("reserved tag", "union-reserved-tags-changed", "RRSSS", (OPEN_ONE, RESERVING), (A, A)),
    case("union's tag changed", "union-tag-changed", "BBSBS", (ONE, BY_KIND), (A, {"x": {"kind": "a", "text": "t"}})),
    case("member deprecated", "union-member-deprecated", "SSSSS", (ONE, OLD_A), (A, A)),
    case("open member deprecated", "union-member-deprecated", "SSSSS", (OPEN_ONE, OLD_OTHER), (Z, Z)),
    case(
        "member without a tag deprecated", "union-member-deprecated", "SSSSS", (UNTAGGED, OLD_PLAIN), (NO_TAG, NO_TAG)
    ),
    Case(
        "member that is a definition with its tag deprecated",
        "request",
        BLOCK,
        BLOCK,
        "union-member-deprecated",
        "SSSSS",
        A,
        A,
        old_extra={"BlockA": TEXT["Text"], "Block": {"anyOf": [tagged("type", "a", "BlockA")]}},
        new_extra={"BlockA": TEXT["Text"], "Block": {"anyOf": [tagged("type", "a", "BlockA", deprecated=True)]}},
    ),
    Case(
        "member has a definition of its own, with another property",
        "request",
        BLOCK,
        BLOCK,
        "union-member-renamed",
        "BBBBS",
        KEY_B,
        {"x": {"c": "t"}},
        old_extra={"Block": PAIR},
        new_extra={
            "Block": {"anyOf": [PAIR["anyOf"][0], {"title": "Two", **wraps("Own")}]},
            "Own": model(["c"], c=STRING),
        },
        also=("definition-added",),
    ),
    case("union's member renamed", "union-member-renamed", "SSBBS", (PAIR, titled("One", "Three")), (KEY_B, KEY_B)),
    case(
        "union's members in another order", "union-order-changed", "RRSRS", (PAIR, REVERSED), (KEY_B, KEY_A), "update"
    ),
    case("exactly one must match", "union-choice-changed", "RRSSS", (PAIR, ONE_OF_PAIR), (KEY_B, KEY_A)),
    shadowed("an earlier member's property became optional", (PAIR, loose(PAIR)), (KEY_B, EMPTY)),
    shadowed("optional where exactly one matches", (ONE_OF_PAIR, loose(ONE_OF_PAIR)), (KEY_B, EMPTY), "SBSRS"),
    shadowed("an earlier member shadows two", (THREE, loose(THREE)), ({"x": {"c": "t"}}, EMPTY)),
    loosened("an earlier member of a property's union", "update", EITHER, (KEY_B, EMPTY)),
    loosened("an earlier list of a property's union", "result", LISTS, ({"x": [KEY_B["x"]]}, {"x": [{}]})),
    case(
        "a new tag beside a member without one",
        "union-closed-member-added",
        "RSSBS",
        (fallback("a"), fallback("a", "b")),
        (A, B),
        "result",
        also="union-member-shadowed",
    ),
    case(
        "a tag removed beside a member without one",
        "union-closed-member-removed",
        "SRBBS",
        (fallback("a", "b"), fallback("a")),
        (B, A),
        "result",
        also="union-member-shadowed",
    ),
    replace(
        case(
            "a new member where exactly one must match, and two do",
            "union-closed-member-added",
            "BSSBS",
            (ONE_OF_PAIR, BOTH),
            (KEY_A, {"x": {"a": "t", "b": "t"}}),
            "update",
        ),
        also=("union-choice-changed", "union-member-shadowed"),
    ),
    case("the member without a tag gains one", RETAGGED, "SBBBS", (UNTAGGED, TAGGED), (NO_TAG, WITH_TAG)),
    Case(
        "a definition named like the member gains its tag",
        "request",
        BLOCK,
        BLOCK,
        RETAGGED,
        "SBSSS",
        NO_TAG,
        WITH_TAG,
        old_extra={**NAMED, "Block": fallback("a", last={"title": "plain", **wraps("BlockPlain")})},
        new_extra={**NAMED, "Block": fallback("a", last=tagged("type", "plain", "BlockPlain"))},
    ),
    case("a member loses its tag", RETAGGED, "BSBBS", (TAGGED, UNTAGGED), (WITH_TAG, NO_TAG)),
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
        A,
        A,
        also=("property-optional-added",),
        old_extra={"Text": model(), "Block": {**union("a"), "oneOf": [with_text("a"), tagged("type", "k", "Text")]}},
        new_extra={"Text": model(text=STRING), "Block": union("a")},
    ),
]
