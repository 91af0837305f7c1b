"""The entries of `renames.toml` that the report proposes, and the findings that they make safe for Python code."""

from __future__ import annotations

from codegen.diff.proposed_renames import proposed_renames
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.read.old_names import keep_old_names
from codegen.read.renames_file import Rename, next_major, package_version
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, part_of, ref, tagged

UNTIL = next_major(package_version())
PROFILES = ("v1", "v1_unstable")


def block(name: str, *members: Schema) -> Schema:
    """Return a method with a union of this name in its params."""
    return request("session/prompt", "Prompt", model(["block"], block=ref(name))) | {name: {"anyOf": [*members]}}


def request(wire: str, name: str, params: Schema | None = None) -> Schema:
    return {
        f"{name}Request": part_of(wire, "agent", params or model()),
        f"{name}Response": part_of(wire, "agent", model()),
    }


def side(definitions: Schema, *renames: Rename, profiles: tuple[str, ...] = PROFILES) -> Side:
    raw = acp_schema(definitions)
    snapshots = {name: Snapshot(name, raw, keep_old_names(read_schema(raw, None), name, renames)) for name in profiles}
    return Side("", "", snapshots)


def report(old: Schema, new: Schema, *renames: Rename) -> Report:
    return compare(side(old), side(new, *renames), [])


def finding(found: Report, rule: str) -> Finding:
    return next(each for each in found.findings if each.rule == rule)


TEXT, IMAGE = tagged("type", "text"), tagged("type", "image")
OLD_UNION, NEW_UNION = block("Block", TEXT, other("type", "text")), block("ContentBlock", TEXT, other("type", "text"))
OLD_METHOD, NEW_METHOD = request("session/set_mode", "Mode"), request("session/set_modes", "Mode")
UNION = Rename("definition", PROFILES, "Block", "ContentBlock", UNTIL)
METHOD = Rename("method", PROFILES, "session/set_mode", "session/set_modes", UNTIL, "agent")


def test_a_renamed_definition_is_proposed_once_for_all_profiles_and_not_for_its_members() -> None:
    assert proposed_renames(report(OLD_UNION, NEW_UNION)) == [UNION]


def test_a_renamed_method_is_proposed_with_its_side() -> None:
    assert proposed_renames(report(OLD_METHOD, NEW_METHOD)) == [METHOD]


def test_an_entry_makes_the_rename_of_a_definition_safe_for_python_code() -> None:
    before, after = report(OLD_UNION, NEW_UNION), report(OLD_UNION, NEW_UNION, UNION)
    assert finding(before, "definition-renamed").verdicts.letters == "SSBBS"
    assert finding(after, "definition-renamed").verdicts.letters == "SSSSS"
    assert f"Python code can use the old name until {UNTIL}." in finding(after, "definition-renamed").sentence
    assert not any(each.breaks_python for each in after.findings)
    assert proposed_renames(after) == []


def test_an_entry_makes_the_rename_of_a_method_safe_for_python_code_but_not_on_the_wire() -> None:
    before, after = report(OLD_METHOD, NEW_METHOD), report(OLD_METHOD, NEW_METHOD, METHOD)
    assert finding(before, "method-renamed").verdicts.letters == "BBBSB"
    assert finding(after, "method-renamed").verdicts.letters == "BBSSS"
    assert proposed_renames(after) == []


def test_an_entry_for_one_profile_leaves_the_proposal_for_the_other() -> None:
    half = Rename("definition", ("v1",), "Block", "ContentBlock", UNTIL)
    assert proposed_renames(report(OLD_UNION, NEW_UNION, half)) == [
        Rename("definition", ("v1_unstable",), "Block", "ContentBlock", UNTIL)
    ]


def test_an_entry_says_that_a_definition_was_renamed_though_its_structure_changed() -> None:
    new = block("ContentBlock", IMAGE, other("type", "image"))
    assert {each.rule for each in report(OLD_UNION, new).findings} >= {"definition-removed", "definition-added"}
    found = report(OLD_UNION, new, UNION)
    assert finding(found, "definition-renamed").verdicts.letters == "SSSSS"
    assert finding(found, "union-open-member-removed").breaks_python


def test_an_entry_says_that_a_method_was_renamed_though_the_names_are_not_similar() -> None:
    new = request("agent/choose", "Choice")
    entry = Rename("method", PROFILES, "session/set_mode", "agent/choose", UNTIL, "agent")
    assert "method-removed" in {each.rule for each in report(OLD_METHOD, new).findings}
    assert finding(report(OLD_METHOD, new, entry), "method-renamed").verdicts.letters == "BBSSS"


def test_a_renamed_class_of_a_union_member_is_proposed() -> None:
    old = block("Block", {"title": "Words", **model(text=STRING)}, {"title": "Numbers", **model(number=STRING)})
    new = block("Block", {"title": "Text", **model(text=STRING)}, {"title": "Numbers", **model(number=STRING)})
    assert proposed_renames(report(old, new)) == [Rename("definition", PROFILES, "BlockWords", "BlockText", UNTIL)]
