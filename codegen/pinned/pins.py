"""Reads the pinned schemas, and refuses files that don't match their hashes in PINNED.json."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from codegen.errors import FileError
from codegen.nodes import is_object
from codegen.pinned.profiles import Profile, find_files
from codegen.toml import validate

PINS = "PINNED.json"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_RESTORE = "Restore the file with git, or run `make fetch` again."


@dataclass(frozen=True)
class Pinned:
    """A profile, and the verified content of its schema."""

    profile: Profile
    content: bytes

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema.

        Raises:
            FileError: the content isn't a schema.
        """
        try:
            schema = parse_json(self.content)
        except ValueError as error:
            raise FileError("", f"Not JSON: {error}. {_RESTORE}", self.profile.file) from error
        if not is_object(schema) or not is_object(schema.get("$defs")):
            raise FileError("", f"Not an ACP schema: there are no `$defs`. {_RESTORE}", self.profile.file)
        return schema


class _Pin(TypedDict):
    sha256: str
    source: NotRequired[str]
    version: NotRequired[str]


class Pins(TypedDict):
    """The content of PINNED.json. A file that was kept when others were fetched has its own source and version."""

    source: str
    version: str
    files: dict[str, _Pin]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def load(folder: Path, *, pinned: bool) -> list[Pinned]:
    """Read the schemas of a folder. With `pinned`, PINNED.json must list exactly these files, with their hashes."""
    files = find_files(folder)
    if not files and not (folder / PINS).is_file():
        raise FileError("", f"There is no schema in {folder.name}/. Fetch one with `make fetch FROM=npm:...`.")
    pins: Pins = {"source": "", "version": "", "files": {}}
    if pinned or (folder / PINS).is_file():
        pins = read_pins(folder / PINS)
        _check_same_files(set(files.values()), set(pins["files"]))
    loaded: list[Pinned] = []
    for name, file in files.items():
        content = (folder / file).read_bytes()
        actual = sha256(content)
        pin = pins["files"].get(file, {"sha256": actual})
        if actual != pin["sha256"]:
            raise FileError("", f"The SHA-256 is {actual}, but {pin['sha256']} is pinned. {_RESTORE}", file)
        profile = Profile(
            name=name,
            file=file,
            sha256=actual,
            source=pin.get("source", pins["source"]),
            version=pin.get("version", pins["version"]),
        )
        loaded.append(Pinned(profile, content))
    return loaded


def read_pins(path: Path) -> Pins:
    """Read PINNED.json.

    Raises:
        FileError: it is missing or invalid.
    """
    try:
        return validate(Pins, parse_json(path.read_bytes()), PINS, _RESTORE)
    except FileNotFoundError as error:
        raise FileError(
            "", "There is no PINNED.json in the folder of the schemas. `make fetch` writes it.", PINS
        ) from error
    except ValueError as error:
        raise FileError("", f"Not JSON: {error}. {_RESTORE}", PINS) from error


def _check_same_files(present: set[str], listed: set[str]) -> None:
    for file in sorted(present ^ listed):
        if file in present:
            raise FileError("", "The file exists but is not pinned. Remove it, or run `make fetch` again.", file)
        raise FileError("", f"The file is pinned but missing. {_RESTORE}", file)


def parse_json(content: bytes) -> Any:
    """Parse standard JSON in UTF-8. Duplicate keys, NaN and infinities raise a ValueError."""
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if _SURROGATE.search(text):
        _check_characters(value)
    return value


def _check_characters(value: Any) -> None:
    """Refuse strings with a lone surrogate, because they can't be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("a string has a lone surrogate, which is half a character") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"an object has the key {key!r} twice")
    return dict(pairs)
