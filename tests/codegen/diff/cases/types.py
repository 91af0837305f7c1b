"""Changes of types and constraints."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, array, ref
from tests.support.diff.cases import INT, KIND, LIST, LONG, MAYBE, UINT, Case, case, holds, kinds, skipping, soft

SHORT: Schema = {"type": "integer", "minimum": 0, "maximum": 65535}
URI: Schema = {**STRING, "format": "uri"}
INTS: Schema = array(INT)
EITHER: Schema = {"anyOf": [INT, STRING]}
TRUE: Schema = {"type": "boolean", "const": True}
DIGITS: Schema = {**STRING, "pattern": "^a[0-9]+$"}
QUARTER: Schema = {"type": "number", "minimum": 0.25}
ONE = {**INT, "const": 1}
NAMED = ref("Kind")
A, BIG = {"x": "a"}, 2**40

TYPES = [
    case("type changed", "type-changed", "BBBBS", (STRING, INT), ("a", 1)),
    Case("type changed", "alone", holds(STRING), holds(INT), "type-changed", "SSBBS"),
    case("type changed where it is tolerated", "type-changed", "RRBBS", (STRING, INT), ("a", 1), "result", soft),
    case("type widened to one of two", "type-changed", "BSSBS", (INT, EITHER), (1, "a"), "update"),
    case("type narrowed to one of two", "type-changed", "SBBSS", (EITHER, INT), ("a", 1)),
    case("a type got a name", "type-respelled", "SSSSS", (STRING, NAMED), ("a", "a"), **kinds(STRING, STRING)),
    case("named null", "nullable-removed", "SBBSS", (NAMED, STRING), (None, "a"), "result", **kinds(MAYBE, MAYBE)),
    case("type became anything", "type-changed", "BSSBS", (STRING, {}), ("a", 1), "result"),
    case("item's type changed", "type-changed", "BBBBS", (LIST, INTS), (["a"], [1])),
    case("skipped item's type changed", "type-changed", "RRBBS", (LIST, INTS), (["a"], [1]), "result", skipping),
    Case("an alias's type changed", "request", KIND, KIND, "type-changed", "BBBBS", A, {"x": 1}, **kinds(STRING, INT)),
    case("format added", "type-respelled", "SSSSS", (STRING, URI), ("a", "a")),
    case("format removed", "type-respelled", "SSSSS", (URI, STRING), ("a", "a"), "update"),
    case("integer written differently", "type-respelled", "SSSSS", ({**SHORT, "format": "uint16"}, SHORT), (1, 65535)),
]
TIGHTER, LOOSER = "constraint-tightened", "constraint-loosened"
CONSTRAINTS = [
    case("wider integer", LOOSER, "BSSSS", (INT, LONG), (1, BIG)),
    case("narrower integer", TIGHTER, "SBRSS", (LONG, INT), (BIG, 1)),
    case("other integer", "constraint-changed", "BBRSS", (INT, UINT), (-1, 2**32 - 1), "update"),
    case("length added", TIGHTER, "SBRSS", (STRING, {**STRING, "minLength": 1}), ("", "a")),
    case("empty list no longer allowed", TIGHTER, "SBRSS", (LIST, {**LIST, "minItems": 1}), ([], ["a"]), "result"),
    case("pattern removed", LOOSER, "BSSSS", ({**STRING, "pattern": "^a$"}, STRING), ("a", "b"), "update"),
    case("limit beside a pattern", TIGHTER, "SBRSS", (DIGITS, {**DIGITS, "maxLength": 3}), ("a123", "a12")),
    case("longer text", LOOSER, "BSSSS", ({**STRING, "maxLength": 1}, {**STRING, "maxLength": 2}), ("a", "aa")),
    case("number's limit raised", TIGHTER, "SBRSS", (QUARTER, {**QUARTER, "minimum": 0.5}), (0.25, 0.5)),
    case("narrower where it is tolerated", TIGHTER, "SRRSS", (LONG, INT), (BIG, 1), "update", soft),
    case(
        "integer constant became a boolean",
        "enum-closed-value-added",
        "BSSBS",
        (ONE, TRUE),
        (1, True),
        "update",
        also=("enum-closed-value-removed",),
    ),
]
CASES = [*TYPES, *CONSTRAINTS]
