"""The entries of `renames.toml` that the report proposes, and the findings that they make safe for Python code."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from codegen import ir
from codegen.data.renames import Rename, keep_old_names, next_major, parse_renames, read_package_version
from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import Report, compare, propose_renames
from codegen.diff.sources import Side, Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdicts
from codegen.regen import read_schema
from tests.codegen.diff.report_schema import SCHEMA
from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, ref, request, tagged

UNTIL = next_major(read_package_version())
PROFILES = ("v1", "v1_unstable")


def block(name: str, *members: Schema) -> Schema:
    """Return a method with a union of this name in its params."""
    return request("session/prompt", "Prompt", model(["block"], block=ref(name))) | {name: {"anyOf": [*members]}}


def side(definitions: Schema, *renames: Rename, profiles: tuple[str, ...] = PROFILES) -> Side:
    raw = acp_schema(definitions)
    snapshots = {name: Snapshot(name, raw, keep_old_names(read_schema(raw, None), name, renames)) for name in profiles}
    return Side("", "", snapshots)


def report(old: Schema, new: Schema, *renames: Rename) -> Report:
    return compare(side(old), side(new, *renames))


def finding(found: Report, rule: str) -> Finding:
    return next(finding for finding in found.findings if finding.rule == rule)


TEXT, IMAGE = tagged("type", "text"), tagged("type", "image")
OLD_UNION, NEW_UNION = block("Block", TEXT, other("type", "text")), block("ContentBlock", TEXT, other("type", "text"))
OLD_METHOD, NEW_METHOD = request("session/set_mode", "Mode"), request("session/set_modes", "Mode")
UNION = Rename(PROFILES, "Block", "ContentBlock", UNTIL)


def test_a_renamed_definition_is_proposed_once_for_all_profiles_and_not_for_its_members() -> None:
    assert [*propose_renames(report(OLD_UNION, NEW_UNION))] == [UNION]


def test_a_renamed_method_has_no_entry() -> None:
    comparison = report(OLD_METHOD, NEW_METHOD)
    assert finding(comparison, "method-renamed").verdicts == Verdicts.of("BBBSB")
    assert [*propose_renames(comparison)] == []


@pytest.mark.parametrize(("version", "until"), [("0.9.0", "1.0.0"), ("1.2.0", "3.0.0")])
def test_an_old_name_outlives_the_next_release_even_if_that_is_a_major_one(
    monkeypatch: pytest.MonkeyPatch, version: str, until: str
) -> None:
    monkeypatch.setattr("codegen.diff.report.read_package_version", lambda: version)
    assert [rename.until for rename in propose_renames(report(OLD_UNION | OLD_METHOD, NEW_UNION | NEW_METHOD))] == [
        until
    ]
    assert [rename.until for rename in propose_renames(report(OLD_UNION, NEW_UNION))] == [next_major(version)]


def test_an_entry_makes_the_rename_of_a_definition_safe_for_python_code() -> None:
    before, after = report(OLD_UNION, NEW_UNION), report(OLD_UNION, NEW_UNION, UNION)
    assert finding(before, "definition-renamed").verdicts == Verdicts.of("SSBBS")
    assert finding(after, "definition-renamed").verdicts == Verdicts.of("SSSSS")
    assert f"Python code can use the old name until {UNTIL}." in finding(after, "definition-renamed").sentence
    assert not any(finding.breaks_python for finding in after.findings)
    assert [*propose_renames(after)] == []


def test_an_entry_for_one_profile_leaves_the_proposal_for_the_other() -> None:
    half = Rename(("v1",), "Block", "ContentBlock", UNTIL)
    assert [*propose_renames(report(OLD_UNION, NEW_UNION, half))] == [
        Rename(("v1_unstable",), "Block", "ContentBlock", UNTIL)
    ]


def test_an_entry_says_that_a_definition_was_renamed_though_its_structure_changed() -> None:
    new = block("ContentBlock", IMAGE, other("type", "image"))
    assert {finding.rule for finding in report(OLD_UNION, new).findings} >= {"definition-removed", "definition-added"}
    comparison = report(OLD_UNION, new, UNION)
    assert finding(comparison, "definition-renamed").verdicts == Verdicts.of("SSSSS")
    assert finding(comparison, "union-open-member-removed").breaks_python


FEW = dict.fromkeys(("one", "two", "three", "four"), STRING)


@pytest.mark.parametrize("entries", [(), (Rename(PROFILES, "Block", "Other", UNTIL),)])
def test_a_definition_that_changed_may_still_have_been_renamed(entries: tuple[Rename, ...]) -> None:
    old = request("session/prompt", "Prompt", model(block=ref("Block"))) | {"Block": model(**FEW, five=STRING)}
    new = request("session/prompt", "Prompt", model(block=ref("Other"))) | {"Other": model(["six"], **FEW, six=STRING)}
    comparison = report(old, new, *entries)
    renamed = finding(comparison, "definition-renamed")
    assert renamed.sentence.startswith("Maybe renamed (4 of 5 properties equal).")
    assert renamed.breaks_python is not bool(entries)
    of_v1 = [(finding.rule, finding.subject) for finding in comparison.findings if finding.profile == "v1"]
    assert sorted(of_v1) == [
        ("definition-renamed", "Other"),
        ("property-optional-removed", "Other.five"),
        ("property-required-added", "Other.six"),
    ]
    comment = "# Maybe not the same: 4 of 5 properties are equal.\n[[renamed]]"
    assert (comment in write_markdown(comparison)) is not bool(entries)


HALF = dict.fromkeys(("one", "two", "five", "six"), STRING)


def test_a_definition_with_few_equal_properties_was_not_renamed() -> None:
    old, new = {"Block": model(**FEW)}, {"Other": model(**HALF)}
    assert {finding.rule for finding in report(old, new).findings} == {"definition-removed", "definition-added"}


@pytest.mark.parametrize(("more", "renamed"), [({}, True), ({"seven": STRING}, False)])
def test_a_definition_with_a_similar_name_and_half_of_the_properties_was_renamed(more: Schema, renamed: bool) -> None:
    found = report({"SetMode": model(**FEW)}, {"SetSessionMode": model(**HALF, **more)})
    assert ("definition-renamed" in {finding.rule for finding in found.findings}) is renamed


def requiring(capability: str, definitions: Schema) -> Side:
    """Return a side whose methods require a capability."""
    compared = side(definitions)
    profiles = {
        name: replace(profile, schema=_requiring(capability, profile.schema))
        for name, profile in compared.profiles.items()
    }
    return replace(compared, profiles=profiles)


def _requiring(capability: str, schema: ir.Schema) -> ir.Schema:
    facts: dict[str, Any] = {"capability": capability, "entry": {"capability": capability}, "table": "v1.agent"}
    return replace(schema, methods=[replace(method, **facts) for method in schema.methods])


def test_a_renamed_method_that_requires_another_capability_is_a_finding_of_its_own() -> None:
    report = compare(requiring("modes", OLD_METHOD), requiring("mode", NEW_METHOD))
    assert finding(report, "method-renamed").verdicts == Verdicts.of("BBBSB")
    assert finding(report, "method-capability-changed").verdicts == Verdicts.of("RRRSS")


ALONE = model(["alone"], alone=STRING)


@pytest.mark.parametrize(
    ("new", "entries"),
    [({"Text": model(), "Block": ALONE}, ()), ({"Text": model(), "Other": ALONE}, (replace(UNION, new="Other"),))],
    ids=["a definition", "an alias"],
)
def test_an_old_name_that_means_another_definition_breaks_code(new: Schema, entries: tuple[Rename, ...]) -> None:
    old = NEW_UNION | {name: definition for name, definition in new.items() if name != "Block"}
    report = compare(side(old, UNION), side(NEW_UNION | new, *entries))
    removed = [finding.subject for finding in report.findings if finding.rule == "definition-old-name-removed"]
    assert removed == ["Block"] * len(PROFILES)


def test_a_renamed_class_of_a_union_member_is_proposed() -> None:
    old = block("Block", {"title": "Words", **model(text=STRING)}, {"title": "Numbers", **model(number=STRING)})
    new = block("Block", {"title": "Text", **model(text=STRING)}, {"title": "Numbers", **model(number=STRING)})
    assert [*propose_renames(report(old, new))] == [Rename(PROFILES, "BlockWords", "BlockText", UNTIL)]


def both() -> Report:
    return report({**OLD_UNION, **OLD_METHOD}, {**NEW_UNION, **NEW_METHOD})


def test_the_markdown_has_the_entries_ready_to_paste() -> None:
    text = write_markdown(both()).partition("```toml\n")[2].partition("```")[0]
    assert parse_renames(text.encode()) == (UNION,)


def test_the_json_has_the_entries_as_values() -> None:
    values = json.loads(write_json(both()))
    jsonschema.validate(values, SCHEMA)
    assert values["renames"] == [{"profiles": [*PROFILES], "old": "Block", "new": "ContentBlock", "until": UNTIL}]


def test_no_format_mentions_the_file_if_nothing_was_renamed() -> None:
    nothing = report(OLD_METHOD, {**OLD_METHOD, "New": model()})
    assert "renames.toml" not in write_markdown(nothing)
    assert json.loads(write_json(nothing))["renames"] == []
