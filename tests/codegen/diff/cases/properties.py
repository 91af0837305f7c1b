"""Changes of properties: added and removed ones, requiredness, null, defaults and leniency."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, model
from tests.support.diff.cases import LIST, MAYBE, ON_ERROR, ON_NULL, SKIP, Case, case, holds, may, soft

FLAG: Schema = {"type": "boolean"}
OFF = may(FLAG, default=False)
A, NULL = {"x": "a"}, {"x": None}
LENIENT, STRICT = "property-leniency-added", "property-leniency-removed"
OLD, NEW = {"workDir": "a"}, {"workingDir": "a"}


def renamed(name: str, place: str, old: list[str], new: list[str], rule: str, letters: str) -> Case:
    """Return a case with a renamed property. `old` and `new` are the required ones."""
    return Case(name, place, model(old, workDir=MAYBE), model(new, workingDir=MAYBE), rule, letters, OLD, NEW)


CASES = [
    # Properties added, removed and renamed
    Case("required added", "request", model(), holds(STRING), "property-required-added", "SBBSS", {}, A),
    Case("required added", "result", model(), holds(STRING), "property-required-added", "SBBSS", {}, A),
    Case("required added", "update", model(), holds(STRING), "property-required-added", "SBBSS", {}, A),
    Case("required added", "alone", model(), holds(STRING), "property-required-added", "SSBSS"),
    Case("optional added", "request", model(), may(MAYBE), "property-optional-added", "SSSSS", {}, A),
    Case("deprecated", "request", holds(STRING), holds(STRING, deprecated=True), "property-deprecated", "SSSSS", A, A),
    Case("undeprecated", "result", holds(STRING, deprecated=True), holds(STRING), "property-deprecated", "SSSSS", A, A),
    Case("required removed", "request", holds(STRING), model(), "property-required-removed", "BRBBS", A, {}),
    Case("required removed", "alone", holds(STRING), model(), "property-required-removed", "SSBBS"),
    Case("optional removed", "request", may(MAYBE), model(), "property-optional-removed", "SRBBS", A, {}),
    renamed("required renamed", "result", ["workDir"], ["workingDir"], "property-required-renamed", "BBBBS"),
    renamed("optional renamed", "update", [], [], "property-optional-renamed", "RRBBS"),
    # Required and optional
    Case("became required", "request", may(STRING), holds(STRING), "property-became-required", "SBBSS", {}, A),
    Case("became optional", "request", holds(STRING), may(STRING), "property-became-optional", "BSSBS", A, {}),
    Case(
        "became optional with a default",
        "request",
        holds(FLAG),
        OFF,
        "property-became-optional",
        "BSSSS",
        {"x": True},
        {},
    ),
    Case("list became optional", "result", holds(LIST), may(LIST), "property-became-optional", "BSSSS", {"x": []}, {}),
    Case("nullable became optional", "result", holds(MAYBE), may(MAYBE), "property-became-optional", "BSSSS", NULL, {}),
    # Null
    Case("null added", "request", holds(STRING), holds(MAYBE), "nullable-added", "BSSBS", A, NULL),
    Case("null added", "result", may(STRING), may(MAYBE), "nullable-added", "BSSBS", A, NULL),
    Case("null removed", "request", holds(MAYBE), holds(STRING), "nullable-removed", "SBBSS", NULL, A),
    Case("null removed", "update", may(MAYBE), may(STRING), "nullable-removed", "SBRSS", NULL, A),
    case("null added where it is tolerated", "nullable-added", "RSSBS", (STRING, MAYBE), ("a", None), "update", soft),
    case("null removed where it is tolerated", "nullable-removed", "SRRSS", (MAYBE, STRING), (None, "a"), holder=soft),
    # Defaults
    Case("default added", "request", may(FLAG), may(FLAG, default=True), "property-default-added", "RRSRS", {}, {}),
    Case("default changed", "result", OFF, may(FLAG, default=True), "property-default-changed", "RRSRS", {}, {}),
    Case("default removed", "update", OFF, may(FLAG), "property-default-removed", "RRSBS", {}, {}),
    # Leniency
    case("leniency added for null", LENIENT, "SSSSS", (LIST, {**LIST, **ON_NULL}), ([], [])),
    case("leniency removed", STRICT, "SRSSS", ({**STRING, **ON_ERROR}, STRING), ("a", "a"), holder=may),
    case("leniency of items removed", STRICT, "SRSSS", ({**LIST, **SKIP}, LIST), (["a"], ["a"]), "result"),
    # Null is one of the invalid values.
    case("leniency for all", LENIENT, "SSSSS", ({**LIST, **ON_NULL}, {**LIST, **ON_ERROR}), (None, ["a"])),
]
