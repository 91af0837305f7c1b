"""The whole comparison: every profile, what was accepted, and what it means for the next version of this package."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.diff.compare.comparison import Comparison, merged
from codegen.diff.compare.definitions import compare_definitions
from codegen.diff.compare.facts import compare_properties
from codegen.diff.compare.messages import compare_messages
from codegen.diff.compare.methods import compare_methods
from codegen.diff.compare.words import count_docs
from codegen.diff.sources import Side
from codegen.diff.user_code.failures import Failure, UserCode
from codegen.diff.verdict.accepted import Acceptance, apply, stale
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdict

STABLE = "v1"
_UNSTABLE = "_unstable"


@dataclass(frozen=True)
class Report:
    """What changed from one side to the other.

    Attributes:
        base: what the base was called, and the release of its schema if known.
        head: likewise.
        findings: in the order of profiles; within one, methods, then messages, then definitions.
        docs_only: descriptions that changed, by profile.
        profiles: those that were compared.
        stale: the fingerprints that are accepted and that no finding has.
        user_code: what was found in user code; None if none was checked.
        notes: what of either side can't be read and so wasn't compared, a sentence each.
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
        """What user code fails with and no finding says: with any of it the report is incomplete."""
        return self.user_code.unpredicted if self.user_code else ()

    @property
    def worst(self) -> Verdict:
        """The worst verdict that counts: of a stable profile, and not accepted."""
        counting = (each.worst for each in self.findings if not each.reports_only and not each.accepted)
        return max(counting, default=Verdict.SAFE)

    @property
    def bump(self) -> str:
        """The part of this package's version to raise: `major`, `minor`, `patch` or `none`."""
        stable = [each for each in self.findings if not each.reports_only]
        if any(each.worst is Verdict.BREAKING for each in stable):
            return "major"
        return "minor" if self.findings else "patch" if any(self.docs_only.values()) else "none"


def compare(base: Side, head: Side, accepted: list[Acceptance]) -> Report:
    """Compare two sides. `accepted` is what a maintainer has accepted of what is found."""
    findings: list[Finding] = []
    docs: dict[str, int] = {}
    names = list(dict.fromkeys((*base.profiles, *head.profiles)))
    for name in names:
        found, docs[name] = _compare_profile(name, base, head)
        findings += [replace(each, reports_only=name != STABLE) for each in found]
    left = stale(accepted, findings) if any(findings) or any(docs.values()) else ()
    notes = (*base.notes, *head.notes)
    return Report(_label(base), _label(head), apply(accepted, findings), docs, tuple(names), left, notes=notes)


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
    return merged(comparison.findings), count_docs(comparison)


def _whole_profile(name: str, *, added: bool) -> Finding:
    rule = "profile-added" if added else "profile-removed"
    return Finding(rule, name, name, "", "", name, RULES[rule].verdicts, symbols=(f"acp_bindings.{name}",), flow=BOTH)
