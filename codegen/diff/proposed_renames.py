"""The entries of `renames.toml` that would keep the old names of a report working."""

from __future__ import annotations

from codegen.diff.report import Report
from codegen.read.renames_file import FILE, Rename, as_toml, next_major, package_version

INVITATION = f"To keep the old names working, add to {FILE}:"


def proposed_renames(report: Report) -> list[Rename]:
    """Return an entry for each rename that breaks Python code, with all profiles in which it happened.

    To write them to the file, see `codegen.read.renames_file.extended`. The old names go in the next major version.
    """
    profiles: dict[tuple[str, str, str, str], list[str]] = {}
    for finding in report.findings:
        if finding.renamed and finding.breaks_python:
            profiles.setdefault(finding.renamed[:4], []).append(finding.profile)
    if not profiles:
        return []
    until = next_major(package_version())
    return [
        Rename(kind, tuple(dict.fromkeys(names)), old, new, until, side)
        for (kind, side, old, new), names in profiles.items()
    ]


def proposed_text(report: Report) -> str:
    """Return the proposed entries as they are written in the file; empty if there are none."""
    return "\n\n".join(map(as_toml, proposed_renames(report)))
