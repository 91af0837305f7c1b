"""Renders docs/project/compatibility.md from the results."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from codegen.compatibility.check import Result
from codegen.diff.verdict.rules import RULES
from codegen.emit.rendering import Templates
from codegen.escaping import code, plain

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
_SHOWN = 5


def compatibility_page(results: list[Result], pinned: str) -> str:
    """Render the page. `pinned` is the release that today's package is generated from."""
    profiles = sorted({each.profile for each in results})
    by_release = {label: list(mine) for label, mine in groupby(results, lambda each: each.release)}
    rows = [table_row(label, mine, profiles) for label, mine in by_release.items()]
    sections = {label: [section(each) for each in mine if each.failures] for label, mine in by_release.items()}
    return _TEMPLATES.render("compatibility.md.jinja", pinned=pinned, profiles=profiles, rows=rows, sections=sections)


def table_row(label: str, results: list[Result], profiles: Iterable[str]) -> str:
    """Return the row of a release: the share of uses that run, and of those that survive, for each profile."""
    by_profile = {each.profile: _shares(each) for each in results}
    return f"| {' | '.join((label, *(by_profile.get(name, '') for name in profiles)))} |"


def section(result: Result) -> str:
    """Return the details of one profile of one release."""
    return _TEMPLATES.render("failures.md.jinja", result=result, reasons=_reasons(result), plain=plain).strip("\n")


def _shares(result: Result) -> str:
    """Return the share of uses that run, and that of those that type-check too if it is another one."""
    survive = result.uses - len(result.failed)
    shares = [_share(survive + len(result.only_type_checked), result.uses), _share(survive, result.uses)]
    return " / ".join(dict.fromkeys(shares))


def _share(part: int, uses: int) -> str:
    """Return a share of the uses. It is rounded down, so that only all of them are 100 %."""
    return f"{1000 * part // uses / 10:g} %"


def _reasons(result: Result) -> list[tuple[str, int, str]]:
    """Return what changed, the number of uses that fail because of it, and where. The worst comes first."""
    uses: dict[str, set[str]] = {}
    subjects: dict[str, set[str]] = {}
    for failure in result.failures:
        for finding in failure.findings:
            uses.setdefault(finding.rule, set()).add(failure.use)
            subjects.setdefault(finding.rule, set()).update(finding.subjects)
    reasons = [(RULES[rule].sentence, len(uses[rule]), _names(subjects[rule])) for rule in uses]
    return sorted(reasons, key=lambda each: (-each[1], each[0]))


def _names(subjects: set[str]) -> str:
    names = sorted(subjects)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(code, names[:_SHOWN])) + more
