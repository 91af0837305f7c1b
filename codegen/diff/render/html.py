"""For a reviewer with a browser: one page, nothing to fetch, old and new side by side, filters by role and verdict."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen.diff.failures import UNPREDICTED
from codegen.diff.grouping import by_profile, groups, note, summary
from codegen.diff.report import Report
from codegen.diff.verdicts import TITLES, Verdict

_TEMPLATE = "report.html.jinja"


def html(report: Report) -> str:
    """The report as one page of HTML."""
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=folder, undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(_TEMPLATE).render(
        report=report,
        summary=summary(report),
        profiles={note(name, found): groups(found) for name, found in by_profile(report).items() if found},
        docs={name: count for name, count in report.docs_only.items() if count},
        unpredicted=UNPREDICTED,
        titles=TITLES,
        verdicts=[each.word for each in sorted(Verdict, reverse=True)],
    )
