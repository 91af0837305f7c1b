"""The same change in many places is one finding, with one fingerprint."""

from __future__ import annotations

import json

from codegen.__main__ import SCHEMA
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import compare
from codegen.diff.verdict.verdicts import Severity
from tests.support.codegen.build import STRING, Schema, model, request
from tests.support.diff.cases import MAYBE, holds
from tests.support.diff.sides import side, side_of_schemas

NULL, TEXT = holds(MAYBE), holds(STRING)


def methods(definition: Schema, *wires: str) -> Schema:
    """Return three methods, whose params are this definition or, without the named ones, an optional null."""
    names = {"initialize": "Init", "session/prompt": "Prompt", "session/set_mode": "Mode"}
    parts = (request(wire, name, definition if wire in wires else NULL) for wire, name in names.items())
    return {key: value for part in parts for key, value in part.items()}


def test_the_same_change_in_all_definitions_is_one_short_finding() -> None:
    old = json.loads((SCHEMA / "v1/schema.json").read_text("utf-8"))
    new = json.loads(json.dumps(old))
    for definition in new["$defs"].values():
        if "null" in definition.get("properties", {}).get("_meta", {}).get("type", ()):
            definition["properties"]["_meta"]["type"] = "object"
    report = compare(side_of_schemas({"v1": old}), side_of_schemas({"v1": new}))
    (finding,) = report.findings
    assert len(finding.places) > 100
    assert len(write_markdown(report)) < 5_000


def test_a_folded_finding_is_as_bad_as_its_worst_place_which_comes_first() -> None:
    after = methods(TEXT, "session/set_mode", "initialize")
    (finding,) = compare(side(methods(NULL)), side(after)).findings
    assert finding.subjects == ["InitRequest.x", "ModeRequest.x"]
    assert finding.severity is Severity.EVERY_PEER
    assert finding.methods == ("initialize", "session/set_mode")


def test_another_place_of_the_same_change_has_another_fingerprint() -> None:
    """So a maintainer accepts all places, and none that came later."""
    fewer, more = (
        compare(side(methods(NULL)), side(methods(TEXT, *wires))).findings[0]
        for wires in (["initialize"], ["initialize", "session/prompt"])
    )
    assert fewer.fingerprint != more.fingerprint


def test_new_definitions_are_findings_of_their_own() -> None:
    findings = compare(side({}), side({"One": model(a=STRING), "Two": model(b=STRING)})).findings
    assert [finding.subject for finding in findings] == ["One", "Two"]


def test_a_property_that_a_union_defines_for_all_members_is_named_after_the_union() -> None:
    def union(**properties: Schema) -> Schema:
        members = [{"title": title, **model([key], **{key: STRING})} for title, key in (("One", "a"), ("Two", "b"))]
        return {"Either": {"type": "object", "anyOf": members, "properties": properties}}

    (finding,) = compare(side(union()), side(union(x=STRING))).findings
    assert finding.subjects == ["Either.x"]
    assert finding.symbols == ("acp_bindings.v1.EitherOne.x", "acp_bindings.v1.EitherTwo.x")
