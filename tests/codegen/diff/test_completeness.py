"""On every pair of consecutive releases the report says everything that changed, and nothing that didn't."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from codegen.diff.compare.pointers import at
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Finding
from tests.support.diff.raw import Change, changes, covers
from tests.support.diff.released import side_of
from tests.support.releases import PAIRS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.stress,
    pytest.mark.xdist_group("releases"),
    pytest.mark.parametrize("pair", PAIRS, ids="..".join),
]


def sides(pair: tuple[str, str]) -> tuple[Side, Side]:
    old, new = map(side_of, pair)
    return old, new


@cache
def report(pair: tuple[str, str]) -> Report:
    return compare(*sides(pair), [])


def profiles(pair: tuple[str, str]) -> list[tuple[str, Any, Any, list[Finding]]]:
    """What both sides have of each profile, and the findings in it."""
    base, head = sides(pair)
    both = [name for name in base.profiles if name in head.profiles]
    found = report(pair).findings
    return [
        (name, base.profiles[name].raw, head.profiles[name].raw, [each for each in found if each.profile == name])
        for name in both
    ]


def test_every_change_has_a_finding_or_is_a_description(pair: tuple[str, str]) -> None:
    missed = [
        (name, change)
        for name, old, new, findings in profiles(pair)
        for change in changes(old, new)
        if not change.only_docs and not any(covers(each, change) for each in findings)
    ]
    assert missed == []


def test_no_finding_is_about_what_did_not_change(pair: tuple[str, str]) -> None:
    for _, old, new, findings in profiles(pair):
        changed = [change for change in changes(old, new) if not change.only_docs]
        for finding in findings:
            assert any(_meet(finding, change) for change in changed), finding
            for raw, pointer in ((old, finding.old), (new, finding.new)):
                assert not pointer or at(raw, pointer) is not None, finding


def _meet(finding: Finding, change: Change) -> bool:
    """Whether a change is in the finding's own place, or the place came or went with something around it."""
    return any(
        own and other and (other == own or other.startswith(f"{own}/") or own.startswith(f"{other}/"))
        for own, other in ((finding.old, change.old), (finding.new, change.new))
    ) or any(place in (change.old, change.new) for place in finding.covers)


def test_descriptions_are_counted_where_they_changed(pair: tuple[str, str]) -> None:
    for name, old, new, _ in profiles(pair):
        if not any(change.only_docs for change in changes(old, new)):
            assert report(pair).docs_only[name] == 0


def test_equal_schemas_give_an_empty_report(pair: tuple[str, str]) -> None:
    base, _ = sides(pair)
    same = compare(base, base, [])
    assert (same.findings, same.bump) == ((), "none")
