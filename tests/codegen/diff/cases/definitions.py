"""Changes of whole definitions."""

from __future__ import annotations

from tests.support.codegen.build import STRING, enum, model, ref, tagged
from tests.support.diff.cases import BLOCK, Case, holds, kinds

CASES = [
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
    Case("definition added", "alone", model(), model(), "definition-added", "SSSSS", new_extra={"Kind": enum("a")}),
    Case("definition removed", "alone", model(), model(), "definition-removed", "SSBBS", old_extra={"Kind": enum("a")}),
    Case(
        "definition deprecated",
        "update",
        holds(ref("Kind")),
        holds(ref("Kind")),
        "definition-deprecated",
        "SSSSS",
        {"x": "a"},
        {"x": "a"},
        **kinds(enum("a"), {**enum("a"), "deprecated": True}),
    ),
    Case(
        "unknown keys mentioned",
        "result",
        model(),
        {**model(), "additionalProperties": True},
        "definition-openness-changed",
        "SSSSS",
        {},
        {"y": 1},
    ),
]
