"""Edits CHANGELOG.md: it has a section for each version, the newest first; that of the next one says "(unreleased)"."""

from __future__ import annotations

import re
from typing import NamedTuple

FILE = "CHANGELOG.md"
_HEADING = re.compile(r"^## (?P<version>\S+)(?P<rest>.*)\n", re.MULTILINE)
_UNRELEASED = "(unreleased)"
_PART = "### Schema\n"
_BREAK = "\n"


class _Changelog(NamedTuple):
    """The text before the section of the next version, that section without its heading, and the released ones."""

    before: str
    version: str
    section: str
    released: str

    @property
    def text(self) -> str:
        sections = [f"## {self.version} {_UNRELEASED}\n\n{self.section.strip(_BREAK)}", self.released]
        return self.before + (_BREAK * 2).join(each.strip(_BREAK) for each in sections if each) + "\n"


def released_versions(text: str) -> list[str]:
    """Return the versions whose section doesn't say "(unreleased)"."""
    return [each["version"] for each in _HEADING.finditer(text) if each["rest"].strip() != _UNRELEASED]


def with_entry(text: str, version: str, entry: str) -> str:
    """Return the text with an entry about a schema in the section of the next version, which is created if needed.

    The entry is put below "Schema", in place of one that begins with the same sentence.

    Args:
        text: the changelog.
        version: the next version.
        entry: a list item, which may have several lines. Its first sentence ends on the first line.
    """
    changelog = _parse(text)
    intro, *parts = re.split(r"^(?=### )", changelog.section, flags=re.MULTILINE)
    number = next((number for number, part in enumerate(parts) if part.startswith(_PART)), len(parts))
    items = "".join(parts[number : number + 1]).removeprefix(_PART).strip()
    parts[number : number + 1] = [f"{_PART}\n{_without(items, entry)}{entry}"]
    section = "\n\n".join(each.strip(_BREAK) for each in (intro, *parts) if each.strip())
    return changelog._replace(version=version, section=section).text


def _without(items: str, entry: str) -> str:
    """Return the items of a list without the one that begins with the same sentence as an entry."""
    sentence = re.escape(entry[: entry.index(". ") + 1])
    others = re.sub(rf"^{sentence}.*?(?=^\S|\Z)", "", items, flags=re.MULTILINE | re.DOTALL).strip()
    return f"{others}\n" if others else ""


def with_release(text: str, old: str, new: str) -> str:
    """Return the text in which the section of the next version says "the schema in <new>" instead of <old>."""
    changelog = _parse(text)
    words = r"\s+".join(map(re.escape, old.split()))
    section, count = re.subn(rf"(the schema in\s+){words}(?!\.?\w)", rf"\g<1>{new}", changelog.section)
    return changelog._replace(section=section).text if count else text


def _parse(text: str) -> _Changelog:
    headings = [*_HEADING.finditer(text)]
    if not headings:
        return _Changelog(f"{text.rstrip()}\n\n" if text.strip() else "", "", "", "")
    newest = headings[0]
    if newest["rest"].strip() != _UNRELEASED:
        return _Changelog(text[: newest.start()], "", "", text[newest.start() :])
    end = headings[1].start() if len(headings) > 1 else len(text)
    return _Changelog(text[: newest.start()], newest["version"], text[newest.end() : end], text[end:])
