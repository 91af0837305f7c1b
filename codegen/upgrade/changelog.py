"""Writes what a new schema changes for users to CHANGELOG.md, and the version that it leads to to pyproject.toml.

The changelog has a section for each version, the newest first; that of the next one says "(unreleased)". The version is
relative to the last release, so several upgrades before the next release raise it once. Before 1.0, the minor version
stands for the major one, and the patch version for the minor one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from codegen.diff.render.sentences import write_counts
from codegen.diff.report import STABLE, Report
from codegen.diff.verdict.findings import Finding
from codegen.errors import FileError
from codegen.escaping import code, join_first, wrap
from codegen.nodes import is_object
from codegen.toml import parse_toml

CHANGELOG, PYPROJECT = "CHANGELOG.md", "pyproject.toml"
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_UNRELEASED = "(unreleased)"
_PART = "### Schema\n"
_WIDTH = 120
# A line names at most this many things, each cut to this length.
_NAMED, _LONGEST = 12, 200


def write_entry(report: Report, old: str, new: str) -> str:
    """Return the list item about an upgrade from one source to another."""
    sentences = f"The schema is that of {_release_name(new)}. Before, it was that of {_release_name(old)}."
    first = wrap(sentences, _WIDTH, "- ", "  ")
    return "\n".join([first, *(wrap(point, _WIDTH, "  - ", "    ") for point in _write_points(report))])


def _write_points(report: Report) -> Iterator[str]:
    """Yield the findings of the stable profile, the worst first, and how many the other profiles have."""
    for profile, findings in report.by_profile.items():
        if profile != STABLE:
            yield from [f"Changes in `{profile}`: {write_counts(findings)}."] if findings else ()
            continue
        names: dict[tuple[str, str], list[str]] = {}
        for finding in sorted(findings, key=lambda finding: -finding.severity):
            names.setdefault((finding.worst.word.capitalize(), finding.sentence), []).extend(map(_name, finding.places))
        yield from (
            f"{verdict}: {join_first(subjects, _NAMED)}. {sentence}" for (verdict, sentence), subjects in names.items()
        )
        if not findings:
            yield f"`{profile}`: {'only descriptions changed' if report.docs_only[profile] else 'no changes'}."


def _name(finding: Finding) -> str:
    """Return what a finding is about, in Markdown: both names if it was renamed, or the value of an enum."""
    if "-value-" in finding.rule:
        return code(f"{finding.subject}:{finding.after or finding.before}"[:_LONGEST])
    renamed = finding.renamed or finding.rule == "method-renamed"
    return code((finding.change if renamed else finding.subject)[:_LONGEST])


def _release_name(source: str) -> str:
    """Return the name of a release in Markdown: `package` and version, or the name of the source without its kind."""
    kind, _, name = source.partition(":")
    package, _, version = (name if name and kind else source).rpartition("@")
    return f"`{package}` {version}" if package and version else f"`{name or source}`"


def find_released_versions(text: str) -> list[str]:
    """Return the versions whose section doesn't say "(unreleased)"."""
    return [section.split()[1] for section in _sections(text)[1:] if not _is_unreleased(section)]


def add_entry(text: str, version: str, entry: str) -> str:
    """Return the text with an entry about a schema in the section of the next version, which is created if needed.

    The entry is put below "Schema", in place of one that begins with the same sentence.

    Args:
        text: the changelog.
        version: the next version.
        entry: a list item, which may have several lines. Its first sentence ends on the first line.
    """
    before, *sections = _sections(text)
    section = sections.pop(0).partition("\n")[2] if sections and _is_unreleased(sections[0]) else ""
    others, _, part = section.partition(_PART)
    items, gap, later = part.partition("\n### ")
    sentence = f"{entry.partition('. ')[0]}."
    kept = [item.strip() for item in re.split(r"^(?=- )", items, flags=re.MULTILINE) if not item.startswith(sentence)]
    schema = "\n".join([*filter(None, kept), entry])
    blocks = [before, f"## {version} {_UNRELEASED}", others, _PART, schema, gap + later, *sections]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def _sections(text: str) -> list[str]:
    """Return the text before the first version, and the section of each version."""
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def _is_unreleased(section: str) -> bool:
    return section.partition("\n")[0].rstrip().endswith(_UNRELEASED)


def next_version(current: str, released: Iterable[str], bump: str) -> str:
    """Return the version after an upgrade.

    Args:
        current: the present version, released or not.
        released: the released versions. Those that aren't three numbers are ignored.
        bump: `major`, `minor`, `patch` or `none`.
    """
    present = _parse_version(current)
    if present is None:
        raise FileError(
            "", f"{PYPROJECT}: The version {current!r} is not <major>.<minor>.<patch>. Set it to the next one."
        )
    last = max(filter(None, map(_parse_version, released)), default=None)
    if last is None or bump == "none":
        return current
    return ".".join(map(str, max(present, _raise_version(last, bump))))


def _parse_version(text: str) -> tuple[int, ...] | None:
    match = _NUMBERS.fullmatch(text)
    return tuple(map(int, match.groups())) if match else None


def _raise_version(version: tuple[int, ...], bump: str) -> tuple[int, ...]:
    major, minor, patch = version
    if bump == "major" and major:
        return major + 1, 0, 0
    if bump == "major" or (bump == "minor" and major):
        return major, minor + 1, 0
    return major, minor, patch + 1


def read_version(text: str) -> str:
    """Return the version in the text of pyproject.toml, which has one line for it."""
    project: Any = parse_toml(text.encode("utf-8"), PYPROJECT).get("project")
    version: Any = project.get("version") if is_object(project) else None
    if text.count(f'\nversion = "{version}"\n') != 1:
        raise FileError("", f'{PYPROJECT}: Expected one line `version = "..."`, in [project]. Correct the file.')
    return str(version)


def set_version(text: str, version: str) -> str:
    """Return the text of pyproject.toml with another version."""
    return text.replace(f'\nversion = "{read_version(text)}"\n', f'\nversion = "{version}"\n')
