"""Says in plain English what a new schema changes for users, as an entry of CHANGELOG.md."""

from __future__ import annotations

import textwrap

from codegen.diff.render.grouping import by_profile, counts_in_words, number
from codegen.diff.report import STABLE, Report
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict

_WIDTH = 120
# A line names at most this many things.
_NAMED = 12
# The rules about things that are new, by what the entry calls them.
_NEW = {
    "methods": ("method-added", "method-added-unannounced", "method-added-baseline", "method-stabilised"),
    "types": ("definition-added", "definition-stabilised"),
    "properties": ("property-optional-added", "property-required-added"),
    "members of unions": ("union-open-member-added", "union-closed-member-added"),
    "values of enums": ("enum-open-value-added", "enum-closed-value-added"),
}
_REMOVED_METHODS = ("method-removed", "method-removed-baseline", "method-left-stable")


def entry(report: Report, old: str, new: str) -> str:
    """Return the entry about an upgrade from one release to another, given by their names."""
    points = [point for profile in report.profiles for point in _points(report, profile)]
    lines = [_point(f"The schema is that of {new}. Before, it was that of {old}.", "- ")]
    return "\n".join([*lines, *(_point(each, "  - ") for each in points)])


def release_name(source: str) -> str:
    """Return the name of a release in Markdown: `package` and version, or the name of the source without its kind."""
    kind, _, name = source.partition(":")
    package, _, version = (name if name and kind else source).rpartition("@")
    return f"`{package}` {version}" if package and version else f"`{name or source}`"


def _points(report: Report, profile: str) -> list[str]:
    """Return the changes of a profile: of the stable one each unsafe finding, and what is new; of others a summary."""
    findings = by_profile(report)[profile]
    if profile != STABLE:
        words = [
            _listed("new methods", findings, _NEW["methods"]),
            _listed("removed methods", findings, _REMOVED_METHODS),
            f"{counts_in_words(findings)} changes",
        ]
        return [f"`{profile}`: {'; '.join(filter(None, words))}."] if findings else []
    unsafe = sorted((each for each in findings if each.worst is not Verdict.SAFE), key=lambda each: -each.worst)
    safe = [each for each in findings if each.worst is Verdict.SAFE]
    words = [_listed(f"new {what}", safe, rules) for what, rules in _NEW.items()]
    if others := sum(all(each.rule not in rules for rules in _NEW.values()) for each in safe):
        words.append(number(others, "other safe change" if any(words) else "safe change"))
    if not findings:
        words.append("only descriptions changed" if report.docs_only[profile] else "no changes")
    points = [f"{each.worst.word.capitalize()}: `{each.subject}`. {each.sentence}" for each in unsafe]
    return [*points, *([f"`{profile}`: {'; '.join(filter(None, words))}."] if any(words) else [])]


def _listed(title: str, findings: list[Finding], rules: tuple[str, ...]) -> str:
    """Return the title and the names of what the findings of these rules are about; empty if there are none."""
    names = list(dict.fromkeys(f"`{_name(each)}`" for each in findings if each.rule in rules))
    more = len(names) - _NAMED
    return f"{title} {', '.join(names[:_NAMED])}{f' and {more} more' if more > 0 else ''}" if names else ""


def _name(finding: Finding) -> str:
    kind = finding.rule.partition("-")[0]
    return (
        finding.place
        if kind == "method"
        else f"{finding.subject}:{finding.after}"
        if kind == "enum"
        else finding.subject
    )


def _point(text: str, mark: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
