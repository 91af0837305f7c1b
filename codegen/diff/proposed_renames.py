"""The entries of `renames.toml` that would keep the old names of a report working."""

from __future__ import annotations

from codegen.data.renames import FILE, Rename, as_toml, next_major, package_version
from codegen.diff.report import Report
from codegen.diff.verdict.verdicts import BREAKING

INVITATION = f"To keep the old names working, add to {FILE}:"


def proposed_renames(report: Report) -> list[Rename]:
    """Return an entry for each rename that breaks Python code, with all profiles in which it happened.

    To write them to the file, see `codegen.data.renames.extended`. The old names go in the next major version, or
    in the one after it if other findings make the next release a major one.
    """
    profiles: dict[tuple[str, str], list[str]] = {}
    for finding in report.findings:
        if finding.renamed and not finding.renamed.until and finding.breaks_python:
            profiles.setdefault(finding.renamed[:2], []).append(finding.profile)
    if not profiles:
        return []
    until = _until(report)
    return [Rename(tuple(dict.fromkeys(names)), old, new, until) for (old, new), names in profiles.items()]


def _until(report: Report) -> str:
    version = package_version()
    breaking = [each for each in report.findings if each.worst is BREAKING and not each.reports_only]
    is_major = any(not each.renamed or each.verdicts.kept().worst is BREAKING for each in breaking)
    until = next_major(version)
    return next_major(until) if is_major and not version.startswith("0.") else until


def proposed_text(report: Report) -> str:
    """Return the proposed entries as they are written in the file; empty if there are none."""
    unsure = {each.renamed[:2]: each.renamed.equal for each in report.findings if each.renamed and each.renamed.equal}
    entries: list[str] = []
    for each in proposed_renames(report):
        equal = unsure.get((each.old, each.new))
        entries.append(f"# Maybe not the same: {equal} are equal.\n{as_toml(each)}" if equal else as_toml(each))
    return "\n\n".join(entries)
