"""Schemas that are written differently but mean the same give no findings and the same package."""

from __future__ import annotations

import json

import pytest

from codegen.diff.report import compare
from codegen.diff.verdict.verdicts import Verdicts
from codegen.emit.modules import emit_profile
from codegen.pinned.profiles import Profile
from tests.support.codegen.build import STRING, Schema, acp_schema, enum, model, other, ref, tagged
from tests.support.diff.cases import around
from tests.support.diff.sides import side_of_schemas

pytestmark = pytest.mark.slow

PROFILE = Profile("v1", "v1/schema.json", "", "", "")
TEXT = model(["text"], text=STRING)
DEFINITIONS: Schema = {
    **around("request", model(["block", "kind"], block=ref("Block"), kind=ref("Kind"), required=STRING)),
    "Text": TEXT,
    "Block": {"anyOf": [tagged("type", "text", "Text"), other("type", "text")]},
    "Kind": enum("a", "b"),
    "Maybe": model(x={"type": ["string", "null"]}),
}


def schema() -> Schema:
    data: Schema = json.loads(json.dumps(acp_schema(DEFINITIONS)))
    return data


def assert_same(changed: Schema) -> None:
    before, after = side_of_schemas({"v1": schema()}), side_of_schemas({"v1": changed})
    for old, new in ((before, after), (after, before)):
        report = compare(old, new)
        assert (report.findings, report.bump) == ((), "none")
    emitted = [emit_profile(PROFILE, side.profiles["v1"].schema) for side in (before, after)]
    assert emitted[0] == emitted[1]


def test_an_empty_required_makes_no_difference() -> None:
    changed = schema()
    for name in ("Kind", "Block", "Maybe", "NewSessionResponse"):
        changed["$defs"][name]["required"] = []
    assert_same(changed)


def test_the_order_of_required_and_type_makes_no_difference() -> None:
    changed = schema()
    request = changed["$defs"]["NewSessionRequest"]
    request["required"] = request["required"][::-1]
    changed["$defs"]["Maybe"]["properties"]["x"]["type"] = ["null", "string"]
    for definition in changed["$defs"].values():
        if "required" in definition:
            definition["required"] = definition["required"][::-1]
    assert_same(changed)


def test_the_order_of_keywords_makes_no_difference() -> None:
    changed = schema()
    for name, definition in changed["$defs"].items():
        changed["$defs"][name] = dict(reversed(definition.items()))
    assert_same(changed)


def test_a_limit_that_excludes_nothing_is_a_type_written_differently() -> None:
    changed = schema()
    changed["$defs"]["Text"]["properties"]["text"]["minLength"] = 0
    (finding,) = compare(side_of_schemas({"v1": schema()}), side_of_schemas({"v1": changed})).findings
    assert (finding.rule, finding.verdicts) == ("type-respelled", Verdicts())
