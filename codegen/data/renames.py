"""Old names of definitions: reads `renames.toml`, and adds its names to a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from codegen.errors import FileError
from codegen.ir import OldName, Schema
from codegen.names import is_class_name
from codegen.pinned.profiles import PROFILES
from codegen.read.normalise import RESERVED
from codegen.toml import Text, parse_toml, read_file, validate, write_toml

FILE = "codegen/renames.toml"
RENAMES_TOML = Path(__file__).parents[1] / "renames.toml"
_PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Rename:
    """An entry: a definition that upstream renamed.

    Attributes:
        profiles: the profiles in which it was renamed.
        old: the old name.
        new: the new name.
        until: the version of this package in which the old name is removed.
    """

    profiles: Annotated[tuple[str, ...], Field(min_length=1)]
    old: Text
    new: Text
    until: Annotated[str, Field(pattern=f"^{_VERSION.pattern}$")]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sorted(self.profiles) != sorted({*self.profiles} & {*PROFILES}):
            raise ValueError(f"Expected some of {', '.join(PROFILES)} in `profiles`, each once")
        if self.old == self.new:
            raise ValueError("`old` and `new` are the same name")
        return self

    def error(self, sentence: str) -> FileError:
        """Return an error about this entry."""
        return FileError("", f"{FILE}, definition {self.old!r}: {sentence}")


class _File(BaseModel, extra="forbid"):
    renamed: tuple[Rename, ...] = ()


def read_renames(path: Path) -> tuple[Rename, ...]:
    """Read the whole file.

    Raises:
        FileError: the file is missing or invalid.
    """
    return parse_renames(read_file(path, FILE))


def parse_renames(content: bytes) -> tuple[Rename, ...]:
    """Parse the content of the file.

    Raises:
        FileError: it is invalid.
    """
    renames = validate(_File, parse_toml(content, FILE), FILE).renamed
    _check_old_names(renames)
    return renames


def to_toml(rename: Rename) -> str:
    """Write an entry as TOML, without a line break at the end."""
    lines = (f"{key} = {write_toml(value)}" for key, value in asdict(rename).items())
    return "\n".join(("[[renamed]]", *lines))


def read_package_version() -> str:
    """Return the version of this package in pyproject.toml.

    Raises:
        FileError: the file is missing or has no version.
    """
    name = _PYPROJECT.name
    version: Any = parse_toml(read_file(_PYPROJECT, name), name).get("project", {}).get("version")
    if not isinstance(version, str) or not _VERSION.match(version):
        raise FileError("", f"{name}: Expected `version` such as '1.2.0' in [project], found {version!r}.")
    return version


def read_repository_url() -> str:
    """Return the address of this project's repository in pyproject.toml."""
    return str(parse_toml(read_file(_PYPROJECT, _PYPROJECT.name), _PYPROJECT.name)["project"]["urls"]["Repository"])


def next_major(version: str) -> str:
    """Return the next major version."""
    return f"{_parse_version(version)[0] + 1}.0.0"


def check_not_due(renames: Iterable[Rename], version: str) -> None:
    """Check that no old name is due to be removed in this version.

    Raises:
        FileError: an old name is due.
    """
    for rename in renames:
        if _parse_version(rename.until) <= _parse_version(version):
            raise rename.error(
                f"The old name ends with {rename.until}, and this is version {version}. Remove the entry and say so in "
                "CHANGELOG.md, or write a later version in `until`."
            )


def _parse_version(version: str) -> list[int]:
    """Parse a version into numbers that can be compared. A pre-release equals its release."""
    return [int(part) for part in _VERSION.findall(version)[0]]


def _check_old_names(renames: tuple[Rename, ...]) -> None:
    """Check that every old name has one entry, and that no new name is an old name."""
    entries = [(profile, rename) for rename in renames for profile in rename.profiles]
    for profile, rename in entries:
        if [(at, other.old) for at, other in entries].count((profile, rename.old)) > 1:
            raise rename.error(f"A second entry has this old name in {profile}. Remove one of them.")
        for other in (other for at, other in entries if (at, other.old) == (profile, rename.new)):
            newest = json.dumps(other.new)
            raise rename.error(
                f"{rename.new!r} was also renamed in {profile}. Write new = {newest}, or remove an entry."
            )


def keep_old_names(schema: Schema, profile: str, renames: Iterable[Rename]) -> Schema:
    """Return a schema with a profile's old names. Entries that don't fit the schema are ignored.

    Raises:
        FileError: an old name can't be a name in Python, or something else has it.
    """
    fitting = [rename for rename in renames if profile in rename.profiles and not _find_misfit(schema, rename)]
    return replace(schema, old_names=tuple(_find_old_names(schema, fitting)))


def find_unused_renames(schemas: Mapping[str, Schema], renames: Iterable[Rename]) -> list[str]:
    """Return a line for each entry that has no effect in one of its profiles, with the reason.

    Such an entry is not an error: upstream may remove a definition, and other folders of schemas lack most of them.
    """
    lines: list[str] = []
    for rename in renames:
        for profile in rename.profiles:
            problem = _find_misfit(schemas[profile], rename) if profile in schemas else "no schema is pinned"
            if problem:
                lines.append(f"definition {rename.old!r}: In {profile}, {problem}.")
    return lines


def _find_misfit(schema: Schema, rename: Rename) -> str:
    """Return why an entry doesn't fit a schema, as part of a sentence; empty if it fits."""
    if rename.new not in schema.definitions:
        return f"there is no definition {rename.new!r}"
    if rename.old in schema.definitions:
        return "there is a definition of the old name"
    return ""


def _find_old_names(schema: Schema, renames: list[Rename]) -> Iterator[OldName]:
    """Yield the old names of definitions, and of the members that are named after a renamed union.

    A member has no old name if the schema uses that name for something else.
    """
    explicit = {rename.old for rename in renames}
    names_by_old: dict[str, str] = {}
    for rename in renames:
        if rename.old in RESERVED or not is_class_name(rename.old):
            raise rename.error(f"{rename.old!r} can't be the name of a class here. Correct `old`.")
        for name in _find_named_after(schema, rename.new):
            old = rename.old + name.removeprefix(rename.new)
            if name != rename.new and (old in explicit or old in schema.definitions or old in RESERVED):
                continue
            if names_by_old.setdefault(old, name) != name:
                raise rename.error(
                    f"{old} would be an old name of both {names_by_old[old]} and {name}. Remove an entry."
                )
            yield OldName(old, name, rename.until)


def _find_named_after(schema: Schema, name: str) -> Iterator[str]:
    """Yield a definition, and the inline members that are named after it, including nested ones."""
    pointer = schema.definitions[name].pointer
    for definition in schema.definitions.values():
        is_inside = definition.pointer == pointer or definition.pointer.startswith(f"{pointer}/")
        if is_inside and definition.name.startswith(name):
            yield definition.name
