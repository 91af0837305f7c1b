"""Changes of types and constraints."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema
from tests.support.diff.cases import INT, KIND, LIST, LONG, ON_ERROR, SKIP, UINT, Case, holds, kinds, may

SHORT: Schema = {"type": "integer", "minimum": 0, "maximum": 65535}

CASES = [
    # Types
    Case("type changed", "request", holds(STRING), holds(INT), "type-changed", "BBBBS", {"x": "a"}, {"x": 1}),
    Case("type changed", "result", holds(STRING), holds(INT), "type-changed", "BBBBS", {"x": "a"}, {"x": 1}),
    Case("type changed", "alone", holds(STRING), holds(INT), "type-changed", "SSBBS"),
    Case(
        "type changed where invalid values are tolerated",
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
        "item's type changed where invalid items are skipped",
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
        **kinds(STRING, INT),
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
        {"x": "a"},
        {"x": "b"},
    ),
    Case(
        "narrower where invalid values are tolerated",
        "update",
        may(LONG, **ON_ERROR),
        may(INT, **ON_ERROR),
        "constraint-tightened",
        "SRRSS",
        {"x": 2**40},
        {"x": 1},
    ),
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
]
