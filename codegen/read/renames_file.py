"""Reads and extends `renames.toml`: the old names that generated code keeps after upstream has changed them.

Checks the form of every entry. Independent of the schema: `codegen.read.old_names` checks whether an entry fits it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from codegen.errors import FileError
from codegen.nodes import is_array, is_object
from codegen.pinned.profiles import PROFILES
from codegen.read.methods import SIDES
from codegen.toml import parse_toml

FILE = "codegen/renames.toml"
RENAMES_TOML = Path(__file__).parents[1] / "renames.toml"
_PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
_MEANING = "The top of the file describes every key."
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
# The keys of an entry, in order. The texts are not empty.
_TEXTS = {"definition": ("old", "new", "until"), "method": ("side", "old", "new", "until")}


@dataclass(frozen=True)
class Rename:
    """An entry: a name that upstream changed.

    Attributes:
        kind: `definition` or `method`.
        profiles: the profiles in which it changed.
        old: the old name: a class, or a method's name on the wire.
        new: the new name.
        until: the version of this package that no longer has the old name.
        side: the side that handles the method; empty for a definition.
    """

    kind: str
    profiles: tuple[str, ...]
    old: str
    new: str
    until: str
    side: str = ""

    def keys(self, name: str) -> list[tuple[str, ...]]:
        """Return what identifies a name of this entry in each profile."""
        return [(profile, self.kind, self.side, name) for profile in self.profiles]

    def error(self, sentence: str) -> FileError:
        """Return an error about this entry."""
        return FileError("", f"{FILE}, {self.kind} {self.old!r}: {sentence}")


def read_renames(path: Path) -> tuple[Rename, ...]:
    """Read the whole file.

    Raises:
        FileError: the file is missing or invalid.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError("", f"{FILE}: The file can't be read: {error.strerror}. Restore it with git.") from error
    return parse_renames(content)


def parse_renames(content: bytes) -> tuple[Rename, ...]:
    """Parse the content of the file.

    Raises:
        FileError: it is invalid.
    """
    table = parse_toml(content, FILE)
    entries: Any = table.get("renamed", [])
    if set(table) - {"renamed"} or not is_array(entries):
        raise FileError("", f"{FILE}: The file may only have [[renamed]] tables. {_MEANING}")
    renames = tuple(_entry(each, number) for number, each in enumerate(entries, 1))
    _check_unique(renames)
    _check_chains(renames)
    return renames


def extended(text: str, renames: Iterable[Rename]) -> str:
    """Return the text of the file with more entries at its end.

    Raises:
        FileError: the file is invalid with them, for example because one renames the new name of another again.
    """
    text = "\n\n".join((text.rstrip("\n"), *map(as_toml, renames))) + "\n"
    parse_renames(text.encode("utf-8"))
    return text


def as_toml(rename: Rename) -> str:
    """Return an entry as it is written in the file, without a line break at the end."""
    lines = ["[[renamed]]", _line("kind", rename.kind), _line("profiles", list(rename.profiles))]
    return "\n".join((*lines, *(_line(key, getattr(rename, key)) for key in _TEXTS[rename.kind])))


def _line(key: str, value: Any) -> str:
    # JSON's strings and arrays of strings are TOML's, too.
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def package_version() -> str:
    """Return the version of this package in pyproject.toml.

    Raises:
        FileError: the file is missing or has no version.
    """
    try:
        found = parse_toml(_PYPROJECT.read_bytes(), _PYPROJECT.name).get("project", {}).get("version")
    except OSError as error:
        raise FileError("", f"{_PYPROJECT.name}: The file can't be read: {error.strerror}.") from error
    if not isinstance(found, str) or not _VERSION.match(found):
        raise FileError("", f"{_PYPROJECT.name}: Expected `version` such as '1.2.0' in [project], found {found!r}.")
    return found


def next_major(version: str) -> str:
    """Return the next major version."""
    return f"{_parts(version)[0] + 1}.0.0"


def check_not_due(renames: Iterable[Rename], version: str) -> None:
    """Check that this version of the package may have all old names.

    Raises:
        FileError: an entry is overdue.
    """
    for each in renames:
        if _parts(each.until) <= _parts(version):
            raise each.error(
                f"The name goes in {each.until}, and this is version {version}. Remove the entry and say so in "
                "CHANGELOG.md, or write a later version in `until`."
            )


def _parts(version: str) -> tuple[int, ...]:
    """Return a version in a form that can be compared. A pre-release counts as the release."""
    found = _VERSION.match(version)
    assert found is not None, version
    return tuple(map(int, found.groups()))


def _entry(entry: Any, number: int) -> Rename:
    if problem := _problem(entry):
        name = f" ({entry['old']!r})" if is_object(entry) and "old" in entry else ""
        raise FileError("", f"{FILE}, entry {number}{name}: {problem} {_MEANING}")
    values: dict[str, Any] = {**entry, "profiles": tuple(entry["profiles"])}
    return Rename(**values)


def _problem(entry: Any) -> str:
    """Return a sentence about what is wrong with an entry; empty if nothing is."""
    if not is_object(entry):
        return f"Expected a table, found {entry!r}."
    kind = entry.get("kind")
    if kind not in _TEXTS:
        return f"`kind` must be {' or '.join(map(repr, _TEXTS))}, found {kind!r}."
    keys = ("kind", "profiles", *_TEXTS[kind])
    for key in (*keys, *entry):
        if key not in keys:
            return f"Unknown key {key!r}; the keys of a {kind} are {', '.join(keys)}."
        if key not in entry:
            return f"`{key}` is missing."
    return _problem_of_profiles(entry["profiles"]) or next(_problems_of_texts(entry, _TEXTS[kind]), "")


def _problem_of_profiles(profiles: Any) -> str:
    listed: list[Any] = profiles if is_array(profiles) else []
    if not listed or any(each not in PROFILES for each in listed) or len(set(listed)) < len(listed):
        return f"`profiles` must list some of {', '.join(PROFILES)}, each once, found {profiles!r}."
    return ""


def _problems_of_texts(entry: dict[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        if not isinstance(entry[key], str) or not entry[key]:
            yield f"`{key}` must be a text, found {entry[key]!r}."
    if "side" in keys and entry["side"] not in SIDES:
        yield f"`side` must be one of {', '.join(SIDES)}, found {entry['side']!r}."
    if not _VERSION.fullmatch(entry["until"]):
        yield f"`until` must be a version such as '1.0.0', found {entry['until']!r}."
    if entry["old"] == entry["new"]:
        yield "`old` and `new` are the same name."


def _check_unique(renames: tuple[Rename, ...]) -> None:
    seen: set[tuple[str, ...]] = set()
    for each in renames:
        for key in each.keys(each.old):
            if key in seen:
                raise each.error(f"A second entry has this old name in {key[0]}. Remove one of them.")
            seen.add(key)


def _check_chains(renames: tuple[Rename, ...]) -> None:
    """Check that no new name is itself an old one, so that every old name leads to the present one."""
    targets = dict(chain.from_iterable(((key, each.new) for key in each.keys(each.old)) for each in renames))
    for each in renames:
        for key in each.keys(each.new):
            names = _chain(key, targets)
            if names[-1] in names[:-1]:
                raise each.error(f"The renames lead in a circle: {', '.join(names)}. Remove one of them.")
            if len(names) > 1:
                raise each.error(f"{each.new!r} was renamed, too, in {key[0]}. Write new = {json.dumps(names[-1])}.")


def _chain(key: tuple[str, ...], targets: dict[tuple[str, ...], str]) -> list[str]:
    """Return a name and those that it was renamed to, up to the present one or one that comes twice."""
    names = [key[-1]]
    while names[-1] not in names[:-1] and (found := targets.get((*key[:-1], names[-1]))):
        names.append(found)
    return names
