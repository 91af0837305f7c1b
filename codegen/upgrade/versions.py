"""The version of this package that a recommended bump leads to.

It is relative to the last release, so several upgrades before the next release raise the version once. Before 1.0,
the minor version stands for the major one, and the patch version for the minor one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from codegen.errors import FileError
from codegen.nodes import is_object
from codegen.toml import parse_toml

FILE = "pyproject.toml"
_Version: TypeAlias = tuple[int, int, int]
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def next_version(current: str, released: Iterable[str], bump: str) -> str:
    """Return the version after an upgrade.

    Args:
        current: the present version, released or not.
        released: the released versions. Those that aren't three numbers are ignored.
        bump: `major`, `minor`, `patch` or `none`.
    """
    present = _parse(current)
    if present is None:
        raise FileError("", f"{FILE}: The version {current!r} is not <major>.<minor>.<patch>. Set it to the next one.")
    last = max(filter(None, map(_parse, released)), default=None)
    if last is None or bump == "none":
        return current
    return ".".join(map(str, max(present, _raised(last, bump))))


def _parse(text: str) -> _Version | None:
    found = _NUMBERS.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _raised(version: _Version, bump: str) -> _Version:
    major, minor, patch = version
    if bump == "major" and major:
        return major + 1, 0, 0
    if bump == "major" or (bump == "minor" and major):
        return major, minor + 1, 0
    return major, minor, patch + 1


def read_version(text: str) -> str:
    """Return the version in the text of pyproject.toml, which has one line for it."""
    project: Any = parse_toml(text.encode("utf-8"), FILE).get("project")
    version: Any = project.get("version") if is_object(project) else None
    if text.count(f'\nversion = "{version}"\n') != 1:
        raise FileError("", f'{FILE}: Expected one line `version = "..."`, in [project]. Correct the file.')
    return str(version)


def with_version(text: str, version: str) -> str:
    """Return the text of pyproject.toml with another version."""
    return text.replace(f'\nversion = "{read_version(text)}"\n', f'\nversion = "{version}"\n')
