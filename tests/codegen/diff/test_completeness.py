"""For pairs of consecutive releases, the report has all changes and nothing else. `make stress` compares all pairs."""

from __future__ import annotations

import pytest

from codegen.diff.compare.pointers import resolve
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.ir import Alias
from tests.codegen.diff.raw_changes import Change, Places, changes, covers, places
from tests.support.diff.sides import report_of, side_of
from tests.support.releases import SAMPLE

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.stress,
    pytest.mark.xdist_group("releases"),
    pytest.mark.parametrize("pair", SAMPLE, ids="..".join),
]


FACTS = ("method-needs", "method-absolute", "method-unsupported")


def profiles(pair: tuple[str, str]) -> list[tuple[str, Snapshot, Snapshot, list[Finding]]]:
    """Return each profile that both sides have: its name, both snapshots, and the findings in it."""
    base, head = map(side_of, pair)
    both = [name for name in base.profiles if name in head.profiles]
    findings = report_of(*pair).findings
    return [
        (name, base.profiles[name], head.profiles[name], [finding for finding in findings if finding.profile == name])
        for name in both
    ]


def test_every_change_has_a_finding_or_is_a_description(pair: tuple[str, str]) -> None:
    for _, old, new, findings in profiles(pair):
        following = [(finding, places(finding, old, new)) for finding in findings]
        for change in changes(old.raw, new.raw):
            if is_same_type(old, new, change):
                continue
            assert change.only_docs or any(covers(*finding, change) for finding in following), change


def is_same_type(old: Snapshot, new: Snapshot, change: Change) -> bool:
    """Return whether a change is inside the type of a definition that has the same values on both sides."""
    name = f"{change.old or change.new}//".split("/")[2]
    before, after = (side.schema.definitions.get(name) for side in (old, new))
    return isinstance(before, Alias) and isinstance(after, Alias) and before.type == after.type


def test_every_finding_is_about_something_that_changed(pair: tuple[str, str]) -> None:
    for _, old, new, findings in profiles(pair):
        changed = [change for change in changes(old.raw, new.raw) if not change.only_docs]
        for finding in findings:
            following = places(finding, old, new)
            is_fact = finding.rule.startswith(FACTS)  # which a description may state
            assert is_fact or any(_overlap(finding, following, change) for change in changed), finding
            for raw, pointer in ((old.raw, finding.old_pointer), (new.raw, finding.new_pointer)):
                assert not pointer or resolve(raw, pointer) is not None, finding


def _overlap(finding: Finding, following: Places, change: Change) -> bool:
    """Return whether the finding's place contains the change, or was added or removed as part of it."""
    sides = ((finding.old_pointer, change.old, following.old), (finding.new_pointer, change.new, following.new))
    return any(
        (own and other and (other == own or other.startswith(f"{own}/") or own.startswith(f"{other}/")))
        or other in others
        for own, other, others in sides
    )


def test_no_descriptions_are_counted_where_none_changed(pair: tuple[str, str]) -> None:
    for name, old, new, _ in profiles(pair):
        if not any(change.only_docs for change in changes(old.raw, new.raw)):
            assert report_of(*pair).docs_only[name] == 0
