"""Upstream's changelog, which says in its own words why something changed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from codegen.diff.report import Report
from codegen.diff.verdict.findings import Finding
from codegen.errors import SourceError
from codegen.names import words


def add_changelog(report: Report, file: str | None, base: str) -> Report:
    """Return a report whose findings have the items of a changelog that name what changed.

    Args:
        report: the report.
        file: the changelog, with a section for each release; None if there is none.
        base: the release of the base. Its section and older ones are left out.

    Raises:
        SourceError: the file can't be read.
    """
    if file is None:
        return report
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"The changelog {file} can't be read: {error}.") from error
    newer = re.split(rf"^## \[?v?{re.escape(base)}\b", text, maxsplit=1, flags=re.MULTILINE)[0] if base else text
    items = re.findall(r"^[-*] (.*?)(?: \(\[.*)?$", newer, re.MULTILINE)  # without the links at the end
    findings = (replace(each, upstream=tuple(item for item in items if _names(item, each))) for each in report.findings)
    return replace(report, findings=tuple(findings))


def _names(item: str, finding: Finding) -> bool:
    """Return whether an item names the method or definition of a finding, its property or tag, or its only method."""
    method = finding.methods if len(finding.methods) == 1 else ()
    names = (finding.place, *re.split("[.:]", finding.subject)[1:], *method)
    return any(set(words(name)) <= set(words(item)) for name in names)
