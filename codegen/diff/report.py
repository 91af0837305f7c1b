"""The report: the findings of every profile, the accepted ones marked, and the recommended version bump."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.diff.compare.comparison import Comparison, merge
from codegen.diff.compare.definitions import compare_definitions
from codegen.diff.compare.descriptions import count_changed_descriptions
from codegen.diff.compare.facts import compare_properties
from codegen.diff.compare.messages import compare_messages
from codegen.diff.compare.methods import compare_methods
from codegen.diff.sources import Side
from codegen.diff.verdict.accepted import Acceptance, apply, stale
from codegen.diff.verdict.failures import Failure, UserCode
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdict

STABLE = "v1"
_UNSTABLE = "_unstable"


@dataclass(frozen=True)
class Report:
    """All changes from the base to the head.

    Attributes:
        base: the label of the base, with the release of its schema if known.
        head: the label of the head, likewise.
        findings: ordered by profile; within a profile methods, then messages, then definitions.
        docs_only: the number of changed descriptions, by profile.
        profiles: the names of the compared profiles.
        stale: accepted fingerprints that no finding has.
        user_code: the result of checking user code; None if it wasn't checked.
        notes: a sentence for each part of either side that can't be read and so wasn't compared.
    """

    base: str
    head: str
    findings: tuple[Finding, ...]
    docs_only: dict[str, int]
    profiles: tuple[str, ...]
    stale: tuple[str, ...] = ()
    user_code: UserCode | None = None
    notes: tuple[str, ...] = ()

    @property
    def unpredicted(self) -> tuple[Failure, ...]:
        """The failures of user code that no finding predicts; if there are any, the report is incomplete."""
        return self.user_code.unpredicted if self.user_code else ()

    @property
    def worst(self) -> Verdict:
        """The worst verdict in the stable profile, without accepted findings."""
        relevant = (each.worst for each in self.findings if not each.reports_only and not each.accepted)
        return max(relevant, default=Verdict.SAFE)

    @property
    def bump(self) -> str:
        """The part of this package's version to raise: `major`, `minor`, `patch` or `none`."""
        stable = [each for each in self.findings if not each.reports_only]
        if any(each.worst is Verdict.BREAKING for each in stable):
            return "major"
        return "minor" if self.findings else "patch" if any(self.docs_only.values()) else "none"


def compare(base: Side, head: Side, accepted: list[Acceptance]) -> Report:
    """Compare two sides, and mark the findings that a maintainer has accepted."""
    findings: list[Finding] = []
    docs: dict[str, int] = {}
    names = list(dict.fromkeys((*base.profiles, *head.profiles)))
    for name in names:
        found, docs[name] = _compare_profile(name, base, head)
        findings += [replace(each, reports_only=name != STABLE) for each in found]
    unused = stale(accepted, findings) if any(findings) or any(docs.values()) else ()
    notes = (*base.notes, *head.notes)
    return Report(_label(base), _label(head), apply(accepted, findings), docs, tuple(names), unused, notes=notes)


def _label(side: Side) -> str:
    return f"{side.label} ({side.version})" if side.version else side.label


def _compare_profile(name: str, base: Side, head: Side) -> tuple[list[Finding], int]:
    if name not in base.profiles or name not in head.profiles:
        return [_whole_profile(name, added=name in head.profiles)], 0
    comparison = Comparison(name, base.profiles[name], head.profiles[name])
    sides = (
        [None, None]
        if name.endswith(_UNSTABLE)
        else [base.profiles.get(name + _UNSTABLE), head.profiles.get(name + _UNSTABLE)]
    )
    old_unstable, new_unstable = (each.schema if each else None for each in sides)
    compare_methods(comparison, old_unstable, new_unstable)
    compare_properties(comparison)
    compare_messages(comparison)
    compare_definitions(comparison, old_unstable, new_unstable)
    return merge(comparison.findings), count_changed_descriptions(comparison)


def _whole_profile(name: str, *, added: bool) -> Finding:
    rule = "profile-added" if added else "profile-removed"
    return Finding(rule, name, name, "", "", name, RULES[rule].verdicts, symbols=(f"acp_bindings.{name}",), flow=BOTH)
