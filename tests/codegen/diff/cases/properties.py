"""Changes of properties: added and removed ones, requiredness, null, defaults and leniency."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, model
from tests.support.diff.cases import LIST, MAYBE, ON_ERROR, ON_NULL, SKIP, Case, holds, may

FLAG: Schema = {"type": "boolean"}
OFF = may(FLAG, default=False)
A, NULL = {"x": "a"}, {"x": None}

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
    # Required and optional
    Case("became required", "request", may(STRING), holds(STRING), "property-became-required", "SBBSS", {}, A),
    Case("became optional", "request", holds(STRING), may(STRING), "property-became-optional", "BSSBS", A, {}),
    Case("list became optional", "result", holds(LIST), may(LIST), "property-became-optional", "BSSSS", {"x": []}, {}),
    Case("nullable became optional", "result", holds(MAYBE), may(MAYBE), "property-became-optional", "BSSSS", NULL, {}),
    # Null
    Case("null added", "request", holds(STRING), holds(MAYBE), "nullable-added", "BSSBS", A, NULL),
    Case("null added", "result", may(STRING), may(MAYBE), "nullable-added", "BSSBS", A, NULL),
    Case("null removed", "request", holds(MAYBE), holds(STRING), "nullable-removed", "SBBSS", NULL, A),
    Case("null removed", "update", may(MAYBE), may(STRING), "nullable-removed", "SBRSS", NULL, A),
    Case(
        "null added where invalid values are tolerated",
        "update",
        may(STRING, **ON_ERROR),
        may(MAYBE, **ON_ERROR),
        "nullable-added",
        "RSSBS",
        A,
        NULL,
    ),
    Case(
        "null removed where invalid values are tolerated",
        "request",
        may(MAYBE, **ON_ERROR),
        may(STRING, **ON_ERROR),
        "nullable-removed",
        "SRRSS",
        NULL,
        A,
    ),
    # Defaults
    Case("default added", "request", may(FLAG), may(FLAG, default=True), "property-default-added", "RRSRS", {}, {}),
    Case("default changed", "result", OFF, may(FLAG, default=True), "property-default-changed", "RRSRS", {}, {}),
    Case("default removed", "update", OFF, may(FLAG), "property-default-removed", "RRSBS", {}, {}),
    # Leniency
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
        "leniency removed", "request", may(STRING, **ON_ERROR), may(STRING), "property-leniency-removed", "SRSSS", A, A
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
    Case(  # null is one of the invalid values
        "leniency for null becomes one for every invalid value",
        "request",
        holds(LIST, **ON_NULL),
        holds(LIST, **ON_ERROR),
        "property-leniency-added",
        "SSSSS",
        NULL,
        {"x": ["a"]},
    ),
]
