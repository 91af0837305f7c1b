"""Renders docs/project/compatibility.md from the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codegen.compatibility.results import Result
from codegen.diff.report import STABLE
from codegen.diff.verdict.rules import RULES
from codegen.emit.rendering import Templates

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
_SHOWN = 5


@dataclass(frozen=True)
class Reason:
    """A kind of finding that predicts failures.

    Attributes:
        sentence: the sentence of its rule.
        findings: the number of findings.
        uses: the number of uses that fail because of them. A use can fail for several reasons.
        subjects: what changed: a few names of the schema, and how many there are besides.
    """

    sentence: str
    findings: int
    uses: int
    subjects: str


def compatibility_page(results: list[Result], pinned: str) -> str:
    """Render the page. `pinned` is the release that today's package is generated from."""
    profiles = sorted({each.profile for each in results})
    by_release: dict[str, list[Result]] = {}
    for each in results:
        by_release.setdefault(each.release, []).append(each)
    rows = [table_row(label, mine, profiles) for label, mine in by_release.items()]
    sections = {label: [section(each) for each in mine if each.failures] for label, mine in by_release.items()}
    return _TEMPLATES.render(
        "compatibility.md.jinja",
        pinned=pinned,
        profiles=profiles,
        rows=rows,
        sections=sections,
        stable_runs=all(each.failed == each.only_type_checked for each in results if each.profile == STABLE),
    )


def table_row(label: str, results: list[Result], profiles: Iterable[str]) -> str:
    """Return the row of a release: the share of uses that run, and of those that survive, for each profile."""
    by_profile = {each.profile: _shares(each) for each in results}
    return f"| {' | '.join((label, *(by_profile.get(name, '') for name in profiles)))} |"


def section(result: Result) -> str:
    """Return the details of one profile of one release."""
    return _TEMPLATES.render("failures.md.jinja", result=result, reasons=_reasons(result)).strip("\n")


def _shares(result: Result) -> str:
    """Return the share of uses that run, and that of those that type-check too if it is another one."""
    survive = result.uses - len(result.failed)
    shares = [_share(survive + len(result.only_type_checked), result.uses), _share(survive, result.uses)]
    return " / ".join(dict.fromkeys(shares))


def _share(part: int, uses: int) -> str:
    """Return a share of the uses. It is rounded down, so that only all of them are 100 %."""
    permille = 1000 * part // uses
    return f"{permille // 10}.{permille % 10} %" if permille % 10 else f"{permille // 10} %"


def _reasons(result: Result) -> list[Reason]:
    """Return the reasons for the failures, those with the most failing uses first."""
    found: dict[str, tuple[dict[str, str], set[str]]] = {}
    for failure in result.failures:
        for finding in failure.findings:
            subjects, uses = found.setdefault(finding.rule, ({}, set()))
            subjects[finding.fingerprint] = finding.subject
            uses.add(failure.use)
    reasons = [
        Reason(RULES[rule].sentence, len(subjects), len(uses), _names(subjects.values()))
        for rule, (subjects, uses) in found.items()
    ]
    return sorted(reasons, key=lambda each: (-each.uses, each.sentence))


def _names(subjects: Iterable[str]) -> str:
    names = sorted(set(subjects))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"`{each}`" for each in names[:_SHOWN]) + more
