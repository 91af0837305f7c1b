"""Compares all profiles of two sides, and collects the findings in a report."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.data.renames import Rename, next_major, read_package_version, to_toml
from codegen.diff.compare.comparison import Comparison, join_same_change, join_same_place
from codegen.diff.compare.definitions import compare_definitions, count_changed_descriptions
from codegen.diff.compare.messages import compare_messages
from codegen.diff.compare.methods import compare_methods, compare_properties
from codegen.diff.compare.readings import compare_readings
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import BOTH, Failure, Finding, Renamed
from codegen.diff.verdict.levels import apply_levels, note_levels, read_levels
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Severity, Verdict
from codegen.ir import Schema
from codegen.pinned.profiles import STABLE
from codegen.read.vocabulary import find_unchecked
from codegen.regen import PACKAGE


@dataclass(frozen=True)
class UserCode:
    """The result of checking the base's user code with the head's package.

    Attributes:
        folder: the folder of the user code, in the repository.
        files: the number of its files.
        failures: the number of new failures.
        unpredicted: the failures that no finding predicts. The others are in the findings.
    """

    folder: str
    files: int
    failures: int
    unpredicted: tuple[Failure, ...]


@dataclass(frozen=True)
class Report:
    """All changes from the base to the head.

    Attributes:
        base: the label of the base, with the release of its schema if known.
        head: the label of the head, with the release of its schema if known.
        findings: the findings by profile, in the order methods, messages, definitions.
        docs_only: the number of changed descriptions, by profile.
        profiles: the names of the compared profiles.
        stale: accepted fingerprints that no finding has.
        user_code: the result of checking user code; None if it wasn't checked.
        notes: sentences about what could not be read or isn't checked, and so wasn't compared.
        unreadable: the names of profiles that could not be read, and so weren't compared.
    """

    base: str
    head: str
    findings: tuple[Finding, ...]
    docs_only: dict[str, int]
    profiles: tuple[str, ...]
    stale: tuple[str, ...] = ()
    user_code: UserCode | None = None
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def has_stable(self) -> bool:
        """Whether the stable profile could be compared."""
        return STABLE not in self.unreadable

    @property
    def unpredicted(self) -> tuple[Failure, ...]:
        """The failures of user code that no finding predicts. If there are any, the report is incomplete."""
        return self.user_code.unpredicted if self.user_code else ()

    @property
    def stable(self) -> list[Finding]:
        """The findings in the stable profile."""
        return [finding for finding in self.findings if not finding.reports_only]

    @property
    def unaccepted(self) -> list[Finding]:
        """The findings in the stable profile that are neither safe nor accepted, the worst first."""
        unaccepted = (finding for finding in self.stable if finding.worst is not Verdict.SAFE and not finding.accepted)
        return sorted(unaccepted, key=lambda finding: -finding.severity)

    @property
    def by_profile(self) -> dict[str, list[Finding]]:
        """The findings of each compared profile."""
        return {name: [finding for finding in self.findings if finding.profile == name] for name in self.profiles}

    @property
    def worst(self) -> Verdict:
        """The worst verdict in the stable profile, without accepted findings."""
        return max((finding.worst for finding in self.unaccepted), default=Verdict.SAFE)

    @property
    def severity(self) -> Severity:
        """The worst severity in the stable profile, without accepted findings."""
        return max((finding.severity for finding in self.unaccepted), default=Severity.SAFE)

    @property
    def bump(self) -> str:
        """The part of this package's version to raise: `major`, `minor`, `patch`, `none`, or `unknown`."""
        if not self.has_stable:
            return "unknown"
        if any(finding.worst is Verdict.BREAKING for finding in self.stable):
            return "major"
        return "minor" if self.findings else "patch" if any(self.docs_only.values()) else "none"


def compare(base: Side, head: Side) -> Report:
    """Compare two sides, and mark the findings that a maintainer has accepted.

    An accepted fingerprint is stale if no finding has it: it belongs to another upgrade, or its finding has changed. If
    nothing changed, no fingerprint is stale, because those of the last upgrade may stay until the next one.

    Raises:
        FileError: the head's `accepted.toml`, or `rules.toml`, is invalid.
    """
    reasons, levels = head.read_accepted(), read_levels()
    findings: list[Finding] = []
    docs: dict[str, int] = {}
    unreadable = (*base.unreadable, *head.unreadable)
    names = sorted({*base.profiles, *head.profiles}.difference(unreadable))
    for name in names:
        in_profile, docs[name] = _compare_profile(name, base, head)
        findings += [
            replace(finding, reports_only=name != STABLE, accepted=reasons.get(finding.fingerprint, ""))
            for finding in apply_levels(in_profile, levels)
        ]
    has_changes = bool(findings) or any(docs.values())
    stale = reasons.keys() - {finding.fingerprint for finding in findings} if has_changes else ()
    return Report(
        base=base.label_with_version,
        head=head.label_with_version,
        findings=tuple(findings),
        docs_only=docs,
        profiles=tuple(names),
        stale=tuple(sorted(stale)),
        notes=(*base.notes, *head.notes, *note_levels(findings, levels), *_note_unchecked_keywords(base, head)),
        unreadable=unreadable,
    )


def _note_unchecked_keywords(base: Side, head: Side) -> list[str]:
    """Return a sentence about keywords in the head, but not in the base, that the bindings don't check."""
    old = {keyword for profile in base.profiles.values() for keyword in find_unchecked(profile.source)}
    new = (keyword for profile in head.profiles.values() for keyword in find_unchecked(profile.source))
    added = dict.fromkeys(keyword for keyword in new if keyword not in old)
    return [f"Not checked by the bindings: {', '.join(added)}."] if added else []


def _compare_profile(name: str, base: Side, head: Side) -> tuple[list[Finding], int]:
    if name not in base.profiles or name not in head.profiles:
        rule = "profile-added" if name in head.profiles else "profile-removed"
        finding = Finding(
            rule=rule,
            profile=name,
            place=name,
            old_pointer="",
            new_pointer="",
            subject=name,
            verdicts=RULES[rule].verdicts,
            symbols=(f"{PACKAGE}.{name}",),
            flow=BOTH,
        )
        return [finding], 0
    comparison = Comparison(
        profile=name,
        old=base.profiles[name],
        new=head.profiles[name],
        old_unstable=_find_unstable_schema(base, name),
        new_unstable=_find_unstable_schema(head, name),
    )
    compare_methods(comparison)
    compare_properties(comparison)
    compare_messages(comparison)
    compare_definitions(comparison)
    compare_readings(comparison)
    findings = [
        replace(finding, wire_severity=comparison.rate_severity(finding.methods))
        for finding in join_same_place(comparison.findings)
    ]
    return join_same_change(findings), count_changed_descriptions(comparison)


def _find_unstable_schema(side: Side, name: str) -> Schema:
    """Return the schema of a stable profile's unstable counterpart; empty if there is none."""
    snapshot = side.profiles.get(f"{name}_unstable")
    return snapshot.schema if snapshot else Schema({})


def propose_renames(report: Report) -> dict[Rename, str]:
    """Return entries of `renames.toml` for renames that break Python code, and how many parts are equal if not all.

    The old names last until the next major version, or until the one after it if other findings make the next release a
    major one.
    """
    version = read_package_version()
    breaking = [finding for finding in report.stable if finding.worst is Verdict.BREAKING]
    is_major = any(
        not finding.renamed or Verdict.BREAKING in finding.verdicts.with_old_name_kept() for finding in breaking
    )
    until = next_major(next_major(version) if is_major and not version.startswith("0.") else version)
    profiles: dict[Renamed, list[str]] = {}
    for finding in report.findings:
        if finding.renamed and not finding.renamed.until and finding.breaks_python:
            profiles.setdefault(finding.renamed, []).append(finding.profile)
    return {
        Rename(tuple(dict.fromkeys(names)), renamed.old, renamed.new, until): renamed.equal
        for renamed, names in profiles.items()
    }


def write_proposed_renames(report: Report) -> str:
    """Write the proposed entries as TOML; empty if there are none."""
    return "\n\n".join(
        f"# Maybe not the same: {equal} are equal.\n{to_toml(rename)}" if equal else to_toml(rename)
        for rename, equal in propose_renames(report).items()
    )
