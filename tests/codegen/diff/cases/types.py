"""Changes of types and constraints."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, ref
from tests.support.diff.cases import INT, KIND, LIST, LONG, MAYBE, ON_ERROR, SKIP, UINT, Case, holds, kinds, may

SHORT: Schema = {"type": "integer", "minimum": 0, "maximum": 65535}
URI: Schema = {**STRING, "format": "uri"}
INTS: Schema = {"type": "array", "items": INT}
EITHER: Schema = {"anyOf": [INT, STRING]}
A, ONE, BIG = {"x": "a"}, {"x": 1}, {"x": 2**40}

CASES = [
    # Types
    Case("type changed", "request", holds(STRING), holds(INT), "type-changed", "BBBBS", A, ONE),
    Case("type changed", "alone", holds(STRING), holds(INT), "type-changed", "SSBBS"),
    Case(
        "type changed where invalid values are tolerated",
        "result",
        may(STRING, **ON_ERROR),
        may(INT, **ON_ERROR),
        "type-changed",
        "RRBBS",
        A,
        ONE,
    ),
    Case("type widened to one of two", "update", holds(INT), holds(EITHER), "type-changed", "BSSBS", ONE, A),
    Case("type narrowed to one of two", "request", holds(EITHER), holds(INT), "type-changed", "SBBSS", A, ONE),
    Case(
        "a type got a name",
        "request",
        holds(STRING),
        holds(ref("Kind")),
        "type-respelled",
        "SSSSS",
        A,
        A,
        **kinds(STRING, STRING),
    ),
    Case(
        "null is no longer in a named type",
        "result",
        holds(ref("Kind")),
        holds(STRING),
        "nullable-removed",
        "SBBSS",
        {"x": None},
        A,
        **kinds(MAYBE, MAYBE),
    ),
    Case("type became anything", "result", holds(STRING), holds({}), "type-changed", "BSSBS", A, ONE),
    Case("item's type changed", "request", holds(LIST), holds(INTS), "type-changed", "BBBBS", {"x": ["a"]}, {"x": [1]}),
    Case(
        "item's type changed where invalid items are skipped",
        "result",
        holds(LIST, **SKIP),
        holds(INTS, **SKIP),
        "type-changed",
        "RRBBS",
        {"x": ["a"]},
        {"x": [1]},
    ),
    Case("an alias's type changed", "request", KIND, KIND, "type-changed", "BBBBS", A, ONE, **kinds(STRING, INT)),
    # Constraints
    Case("wider integer", "request", holds(INT), holds(LONG), "constraint-loosened", "BSSSS", ONE, BIG),
    Case("narrower integer", "request", holds(LONG), holds(INT), "constraint-tightened", "SBRSS", BIG, ONE),
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
        A,
    ),
    Case(
        "empty list no longer allowed",
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
        A,
        {"x": "b"},
    ),
    Case(
        "another limit beside a pattern",
        "request",
        holds(STRING, pattern="^a[0-9]+$"),
        holds(STRING, pattern="^a[0-9]+$", maxLength=3),
        "constraint-tightened",
        "SBRSS",
        {"x": "a123"},
        {"x": "a12"},
    ),
    Case(
        "longer text",
        "request",
        holds(STRING, maxLength=5),
        holds(STRING, maxLength=6),
        "constraint-loosened",
        "BSSSS",
        {"x": "aaaaa"},
        {"x": "aaaaaa"},
    ),
    Case(
        "number's limit raised",
        "request",
        holds({"type": "number", "minimum": 0.25}),
        holds({"type": "number", "minimum": 0.5}),
        "constraint-tightened",
        "SBRSS",
        {"x": 0.25},
        {"x": 0.5},
    ),
    Case(
        "narrower where invalid values are tolerated",
        "update",
        may(LONG, **ON_ERROR),
        may(INT, **ON_ERROR),
        "constraint-tightened",
        "SRRSS",
        BIG,
        ONE,
    ),
    Case(
        "integer constant became a boolean",
        "update",
        holds(INT, const=1),
        holds({"type": "boolean", "const": True}),
        "enum-closed-value-added",
        "BSSBS",
        ONE,
        {"x": True},
        also=("enum-closed-value-removed",),
    ),
    Case("format added", "request", holds(STRING), holds(URI), "type-respelled", "SSSSS", A, A),
    Case("format removed", "update", holds(URI), holds(STRING), "type-respelled", "SSSSS", A, A),
    Case(
        "integer written differently",
        "request",
        holds({**SHORT, "format": "uint16"}),
        holds(SHORT),
        "type-respelled",
        "SSSSS",
        ONE,
        {"x": 65535},
    ),
]
