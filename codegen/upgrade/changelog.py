"""Edits the texts of CHANGELOG.md and pyproject.toml: an entry about an upgrade, and the next version.

The changelog has a section for each version, the newest first. The title of the next version ends in "(unreleased)".
The next version follows from the last release, so several upgrades before a release raise it once. Before 1.0, the
minor version counts as the major one, and the patch version as the minor one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from codegen.diff.render.sentences import write_counts
from codegen.diff.report import Report
from codegen.diff.verdict.findings import Finding
from codegen.errors import FileError
from codegen.escaping import code, join_first, wrap
from codegen.nodes import is_object
from codegen.pinned.profiles import STABLE
from codegen.toml import parse_toml

CHANGELOG, PYPROJECT = "CHANGELOG.md", "pyproject.toml"
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_UNRELEASED = "(unreleased)"
_PART = "### Schema\n"
_WIDTH = 120
# A line has at most this many names, which are cut to this length.
_MAX_NAMES = 12
_MAX_LENGTH = 200


def write_entry(report: Report, old: str, new: str) -> str:
    """Return a list item about an upgrade from one source to another."""
    sentences = f"The schema is that of {_write_release(new)}. Before, it was that of {_write_release(old)}."
    first = wrap(sentences, _WIDTH, "- ", "  ")
    return "\n".join([first, *(wrap(point, _WIDTH, "  - ", "    ") for point in _write_points(report))])


def _write_points(report: Report) -> Iterator[str]:
    """Yield the findings of the stable profile, the worst first, and the number of findings of other profiles."""
    for profile, findings in report.by_profile.items():
        if profile == STABLE:
            yield from _write_stable_points(findings)
            if not findings:
                yield f"`{profile}`: {'only descriptions changed' if report.docs_only[profile] else 'no changes'}."
        elif findings:
            yield f"Changes in `{profile}`: {write_counts(findings)}."


def _write_stable_points(findings: list[Finding]) -> Iterator[str]:
    names: dict[tuple[str, str], list[str]] = {}
    for finding in sorted(findings, key=lambda finding: -finding.severity):
        key = finding.worst.word.capitalize(), finding.sentence
        names.setdefault(key, []).extend(map(_write_subject, finding.places))
    for (verdict, sentence), subjects in names.items():
        yield f"{verdict}: {join_first(subjects, _MAX_NAMES)}. {sentence}"


def _write_subject(finding: Finding) -> str:
    """Return the subject of a finding in Markdown: with the value of an enum, or with both names after a rename."""
    if "-value-" in finding.rule:
        return code(f"{finding.subject}:{finding.after or finding.before}"[:_MAX_LENGTH])
    renamed = finding.renamed or finding.rule == "method-renamed"
    return code((finding.change if renamed else finding.subject)[:_MAX_LENGTH])


def _write_release(source: str) -> str:
    """Return a release in Markdown: its package and version, or the source without its kind."""
    kind, _, name = source.partition(":")
    package, _, version = (name if name and kind else source).rpartition("@")
    return f"`{package}` {version}" if package and version else f"`{name or source}`"


def find_released_versions(text: str) -> list[str]:
    """Return the versions in the changelog that don't say "(unreleased)"."""
    return [section.split()[1] for section in _split_sections(text)[1:] if not _is_unreleased(section)]


def add_entry(text: str, version: str, entry: str) -> str:
    """Return the text with an entry about a schema in the section of the next version.

    A missing section is added. The entry is put below "Schema", and replaces one that begins with the same sentence.

    Args:
        text: the changelog.
        version: the next version.
        entry: a list item, which may have several lines. Its first sentence ends on the first line.
    """
    top, *sections = _split_sections(text)
    section = sections.pop(0).partition("\n")[2] if sections and _is_unreleased(sections[0]) else ""
    earlier_parts, _, part = section.partition(_PART)
    items, heading, later_parts = part.partition("\n### ")
    sentence = f"{entry.partition('. ')[0]}."
    kept = [item.strip() for item in re.split(r"^(?=- )", items, flags=re.MULTILINE) if not item.startswith(sentence)]
    blocks = [
        top,
        f"## {version} {_UNRELEASED}",
        earlier_parts,
        _PART,
        "\n".join([*filter(None, kept), entry]),
        heading + later_parts,
        *sections,
    ]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def _split_sections(text: str) -> list[str]:
    """Return the text before the first version, and the section of each version."""
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def _is_unreleased(section: str) -> bool:
    return section.partition("\n")[0].rstrip().endswith(_UNRELEASED)


def next_version(current: str, released: Iterable[str], bump: str) -> str:
    """Return the version after an upgrade.

    Args:
        current: the current version, released or not.
        released: the released versions. Versions that aren't three numbers are ignored.
        bump: `major`, `minor`, `patch` or `none`.
    """
    parsed = _parse_version(current)
    if parsed is None:
        raise FileError(
            "", f"{PYPROJECT}: The version {current!r} is not <major>.<minor>.<patch>. Set it to the next one."
        )
    last = max(filter(None, map(_parse_version, released)), default=None)
    if last is None or bump == "none":
        return current
    return ".".join(map(str, max(parsed, _raise_version(last, bump))))


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
    """Return the version in the text of pyproject.toml, which must be on one line."""
    project: Any = parse_toml(text.encode("utf-8"), PYPROJECT).get("project")
    version: Any = project.get("version") if is_object(project) else None
    if text.count(f'\nversion = "{version}"\n') != 1:
        raise FileError("", f'{PYPROJECT}: Expected one line `version = "..."`, in [project]. Correct the file.')
    return str(version)


def set_version(text: str, version: str) -> str:
    """Return the text of pyproject.toml with another version."""
    return text.replace(f'\nversion = "{read_version(text)}"\n', f'\nversion = "{version}"\n')
