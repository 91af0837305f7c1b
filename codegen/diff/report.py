"""The report: the findings of every profile, the accepted ones marked, and the recommended version bump."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from codegen.diff.compare.comparison import Comparison, fold, merge
from codegen.diff.compare.definitions import compare_definitions, count_changed_descriptions
from codegen.diff.compare.facts import compare_properties
from codegen.diff.compare.messages import compare_messages
from codegen.diff.compare.methods import compare_methods
from codegen.diff.compare.readings import compare_readings
from codegen.diff.sources import Side
from codegen.diff.verdict.failures import Failure, UserCode
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Severity, Verdict
from codegen.ir import Schema
from codegen.read.vocabulary import find_unchecked
from codegen.regen import PACKAGE

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
    def stable(self) -> list[Finding]:
        """The findings in the stable profile."""
        return [each for each in self.findings if not each.reports_only]

    @property
    def unaccepted(self) -> list[Finding]:
        """The findings in the stable profile that aren't accepted."""
        return [each for each in self.stable if not each.accepted]

    @property
    def worst(self) -> Verdict:
        """The worst verdict in the stable profile, without accepted findings."""
        return max((each.worst for each in self.unaccepted), default=Verdict.SAFE)

    @property
    def severity(self) -> Severity:
        """The worst severity in the stable profile, without accepted findings."""
        return max((each.severity for each in self.unaccepted), default=Severity.SAFE)

    @property
    def bump(self) -> str:
        """The part of this package's version to raise: `major`, `minor`, `patch` or `none`."""
        if any(each.worst is Verdict.BREAKING for each in self.stable):
            return "major"
        return "minor" if self.findings else "patch" if any(self.docs_only.values()) else "none"


def compare(base: Side, head: Side, accepted: Iterable[tuple[str, str]] = ()) -> Report:
    """Compare two sides, and mark the findings that a maintainer has accepted: fingerprints and reasons."""
    reasons = dict(accepted)
    findings: list[Finding] = []
    docs: dict[str, int] = {}
    names = sorted({*base.profiles, *head.profiles})
    for name in names:
        found, docs[name] = _compare_profile(name, base, head)
        findings += [
            replace(each, reports_only=name != STABLE, accepted=reasons.get(each.fingerprint, "")) for each in found
        ]
    stale = reasons.keys() - {each.fingerprint for each in findings} if findings or any(docs.values()) else ()
    notes = (*base.notes, *head.notes, *_unchecked(base, head))
    return Report(_label(base), _label(head), tuple(findings), docs, tuple(names), tuple(sorted(stale)), notes=notes)


def _unchecked(base: Side, head: Side) -> Iterator[str]:
    """Yield a sentence about what would restrict values in the head but not in the base, and isn't checked."""
    known, found = (
        [each for one in side.profiles.values() for each in find_unchecked(one.source)] for side in (base, head)
    )
    if new := dict.fromkeys(each for each in found if each not in known):
        yield f"Not checked by the bindings: {', '.join(new)}."


def _label(side: Side) -> str:
    return f"{side.label} ({side.version})" if side.version else side.label


def _compare_profile(name: str, base: Side, head: Side) -> tuple[list[Finding], int]:
    if name not in base.profiles or name not in head.profiles:
        return [_whole_profile(name, added=name in head.profiles)], 0
    unstable = _unstable(base, name), _unstable(head, name)
    comparison = Comparison(name, base.profiles[name], head.profiles[name], *unstable)
    compare_methods(comparison)
    compare_properties(comparison)
    compare_messages(comparison)
    compare_definitions(comparison)
    compare_readings(comparison)
    found = [replace(each, on_wire=_on_wire(comparison, each)) for each in merge(comparison.findings)]
    return fold(found), count_changed_descriptions(comparison)


def _unstable(side: Side, name: str) -> Schema | None:
    """Return the unstable schema that goes with a profile; None if there is none, or if the profile is one itself."""
    found = None if name.endswith(_UNSTABLE) else side.profiles.get(name + _UNSTABLE)
    return found.schema if found else None


def _on_wire(comparison: Comparison, finding: Finding) -> Severity:
    """Return how bad it is if a change breaks messages."""
    methods = (*comparison.old.schema.methods, *comparison.new.schema.methods)
    baseline = [each for each in methods if each.baseline and each.wire in finding.methods]
    if not finding.methods or any(each.entry.get("opens") for each in baseline):
        return Severity.EVERY_PEER
    return Severity.BASELINE if baseline else Severity.WIRE


def _whole_profile(name: str, *, added: bool) -> Finding:
    rule = "profile-added" if added else "profile-removed"
    symbols = (f"{PACKAGE}.{name}",)
    return Finding(rule, name, name, "", "", name, RULES[rule].verdicts, symbols=symbols, flow=BOTH)
