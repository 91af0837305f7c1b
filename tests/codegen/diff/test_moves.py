"""A finding about a property that moved into or out of a nested object names its other place."""

from __future__ import annotations

import pytest

from codegen.diff.render.github import github
from codegen.diff.render.html import html
from codegen.diff.render.json import json_values
from codegen.diff.render.markdown import markdown
from codegen.diff.render.terminal import terminal
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, ref, tagged
from tests.support.diff.cases import INT, around

FLAT = model(["cwd"], cwd=STRING)
OPTIONS = model(["options"], options=ref("Options"))
INNER = {"Options": model(["cwd"], cwd=STRING)}


def side(request: Schema, others: Schema) -> Side:
    raw = acp_schema(around("request", request) | others)
    return Side("", "", {"v1": Snapshot("v1/schema.json", raw, read_schema(raw, "v1"))})


def report(old: tuple[Schema, Schema], new: tuple[Schema, Schema]) -> Report:
    return compare(side(*old), side(*new), [])


def about(found: Report, subject: str) -> Finding:
    (finding,) = [each for each in found.findings if each.subject == subject]
    return finding


def places(finding: Finding) -> tuple[str, str, str, str]:
    return finding.old, finding.new, finding.before, finding.after


def test_a_property_that_moved_into_an_object_names_its_new_place() -> None:
    finding = about(report((FLAT, {}), (OPTIONS, INNER)), "NewSessionRequest.cwd")
    assert (finding.rule, finding.verdicts.letters) == ("property-required-removed", "BRBBS")
    assert places(finding) == (
        "/$defs/NewSessionRequest/properties/cwd",
        "/$defs/Options/properties/cwd",
        "cwd: str",
        "options.cwd: str",
    )
    assert finding.sentence.endswith("It moved to options.cwd.")
    assert finding.symbols == ("acp_bindings.v1.NewSessionRequest.cwd", "acp_bindings.v1.Options.cwd")


def test_a_property_that_moved_out_of_an_object_names_its_old_place() -> None:
    finding = about(report((OPTIONS, INNER), (FLAT, {})), "NewSessionRequest.cwd")
    assert (finding.rule, finding.verdicts.letters) == ("property-required-added", "SBBSS")
    assert places(finding) == (
        "/$defs/Options/properties/cwd",
        "/$defs/NewSessionRequest/properties/cwd",
        "options.cwd: str",
        "cwd: str",
    )
    assert finding.sentence.endswith("It moved from options.cwd.")


def test_if_both_objects_remain_each_finding_names_the_other_place() -> None:
    before = (model(["options"], options=ref("Options"), cwd=STRING), {"Options": model()})
    after = (OPTIONS, {"Options": model(cwd=STRING)})
    there, back = report(before, after), report(after, before)
    assert about(there, "NewSessionRequest.cwd").after == "options.cwd: str (optional)"
    assert about(there, "Options.cwd").before == "NewSessionRequest.cwd: str (optional)"
    assert about(back, "Options.cwd").after == "NewSessionRequest.cwd: str (optional)"
    assert about(back, "NewSessionRequest.cwd").before == "options.cwd: str (optional)"


def test_a_required_property_may_be_optional_in_its_new_place() -> None:
    new = (OPTIONS, {"Options": model(cwd={"type": ["string", "null"]})})
    assert about(report((FLAT, {}), new), "NewSessionRequest.cwd").after == "options.cwd: str | None (optional)"


CONTAINERS = {
    "an object two levels down": (
        model(options=ref("Options")),
        {"Options": model(more=ref("More")), "More": model(cwd=STRING)},
        "options.more.cwd",
    ),
    "the items of a list": (model(options={"type": "array", "items": ref("Options")}), INNER, "options.cwd"),
    "the values of a map": (
        model(options={"type": "object", "additionalProperties": ref("Options")}),
        INNER,
        "options.cwd",
    ),
    "an object or null": (model(options={"anyOf": [ref("Options"), {"type": "null"}]}), INNER, "options.cwd"),
    "a member of a union": (
        model(options=ref("Block")),
        {"Block": {"anyOf": [tagged("type", "a", "Options"), other("type", "a")]}, **INNER},
        "options.cwd",
    ),
    "all members of a union": (
        model(options=ref("Block")),
        {"Block": {**model(cwd=STRING), "anyOf": [tagged("type", "a"), other("type", "a")]}},
        "options.cwd",
    ),
}


@pytest.mark.parametrize(("request_", "others", "path"), CONTAINERS.values(), ids=CONTAINERS)
def test_a_moved_property_is_found_in(request_: Schema, others: Schema, path: str) -> None:
    assert about(report((FLAT, {}), (request_, others)), "NewSessionRequest.cwd").moved == path
    assert about(report((request_, others), (FLAT, {})), "NewSessionRequest.cwd").moved == path


NOT_MOVED = {
    "of another type": ((OPTIONS, {"Options": model(cwd=INT)}), (FLAT, {})),
    "that was there before": ((OPTIONS, INNER), (model(["cwd"], cwd=STRING, options=ref("Options")), INNER)),
    "in an unrelated object": ((model(), INNER), (FLAT, {})),
    "in two places": ((model(a=ref("A"), b=ref("B")), {"A": FLAT, "B": FLAT}), (FLAT, {})),
}


@pytest.mark.parametrize(("after", "before"), NOT_MOVED.values(), ids=NOT_MOVED)
def test_a_property_did_not_move_to_one(after: tuple[Schema, Schema], before: tuple[Schema, Schema]) -> None:
    for found in (report(before, after), report(after, before)):
        assert about(found, "NewSessionRequest.cwd").moved == ""


def test_a_property_that_every_object_has_never_counts_as_moved() -> None:
    meta = {"_meta": {"type": "object", "additionalProperties": True}}
    new = (OPTIONS, {"Options": model(**meta)})
    assert about(report((model(**meta), {}), new), "NewSessionRequest._meta").moved == ""


def test_every_format_has_both_places() -> None:
    found = report((FLAT, {}), (OPTIONS, INNER))
    for text in (terminal(found, colour=False), markdown(found), github(found), html(found)):
        assert "It moved to options.cwd." in text
    (finding,) = [each for each in json_values(found)["findings"] if each["subject"] == "NewSessionRequest.cwd"]
    assert finding["pointer"]["new"] == "/$defs/Options/properties/cwd"
    assert finding["sentence"].endswith("It moved to options.cwd.")
