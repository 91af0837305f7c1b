"""Changes of closed and open enums."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, array, enum, ref
from tests.support.diff.cases import KIND, ON_ERROR, Case, holds, kinds, may

SOFT = may({"anyOf": [ref("Kind"), {"type": "null"}]}, **ON_ERROR)
CLOSED, CLOSED_MORE = enum("a", "b"), enum("a", "b", "c")
LAST = {"type": "string", "const": "b", "deprecated": True}
DEPRECATED: Schema = {"oneOf": [CLOSED["oneOf"][0], LAST]}
OPEN_DEPRECATED: Schema = {"anyOf": [CLOSED["oneOf"][0], LAST, {"title": "other", **STRING}]}
SHORT: Schema = {"anyOf": [*CLOSED["oneOf"], {"title": "other", **STRING, "maxLength": 3}]}
OPEN, OPEN_MORE = enum("a", "b", opened=True), enum("a", "b", "c", opened=True)


def case(
    name: str,
    rule: str,
    letters: str,
    enums: tuple[Schema, Schema],
    values: str | tuple[str, str],
    place: str = "request",
    on: Schema = KIND,
) -> Case:
    """Return a case in which the property `x` of a definition, `on`, is an enum, and each side sends one value."""
    old, new = ({"x": value} for value in values)
    return Case(name, place, on, on, rule, letters, old, new, **kinds(*enums))


CASES = [
    case("closed enum's new value", "enum-closed-value-added", "BSSBS", (CLOSED, CLOSED_MORE), "ac"),
    case("tolerated new value", "enum-closed-value-added", "RSSBS", (CLOSED, CLOSED_MORE), "ac", "update", SOFT),
    case("open enum's new value", "enum-open-value-added", "SSSSS", (OPEN, OPEN_MORE), "zc"),
    case("closed enum's value removed", "enum-closed-value-removed", "SBBRS", (CLOSED_MORE, CLOSED), "ca"),
    case("tolerated value removed", "enum-closed-value-removed", "SRBRS", (CLOSED_MORE, CLOSED), "ca", "result", SOFT),
    case("open enum's value removed", "enum-open-value-removed", "SRSSS", (OPEN_MORE, OPEN), "ca", "result"),
    case("value deprecated", "type-part-deprecated", "SSSSS", (CLOSED, DEPRECATED), "aa"),
    case("value of an open enum no longer deprecated", "type-part-deprecated", "SSSSS", (OPEN_DEPRECATED, OPEN), "aa"),
    Case(
        "value of a property's own enum deprecated",
        "request",
        holds(CLOSED),
        holds(DEPRECATED),
        "type-part-deprecated",
        "SSSSS",
        {"x": "a"},
        {"x": "a"},
    ),
    Case(
        "items deprecated",
        "request",
        holds(array(STRING)),
        holds(array({**STRING, "deprecated": True})),
        "type-part-deprecated",
        "SSSSS",
        {"x": ["a"]},
        {"x": ["a"]},
    ),
    case("enum opened", "enum-opened", "BSSBS", (CLOSED, OPEN), "az"),
    case("enum closed", "enum-closed", "SBBSS", (OPEN, CLOSED), "za"),
    case("open enum's unlisted values limited", "constraint-tightened", "SBRSS", (OPEN, SHORT), ("zzzz", "z")),
    case("closed enum became any text", "type-changed", "BSSBS", (CLOSED, STRING), "az"),
    case("any text became a closed enum", "type-changed", "SBBSS", (STRING, CLOSED), "za"),
]
