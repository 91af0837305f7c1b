"""The schemas of a release, read from a folder: an unpacked package, its `schema/`, or the same files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.errors import FetchError
from codegen.nodes import is_object
from codegen.pinned.pins import parse_json
from codegen.pinned.profiles import PLACES, PLACES_OF, find_files

# They appear in generated code, pull requests and the documentation.
_NAME = re.compile(r"[\w@.+/() -]{0,200}", re.ASCII)


@dataclass(frozen=True)
class Release:
    """The schemas of a source, and their origin.

    Attributes:
        source: its name in PINNED.json, without paths of this machine.
        version: the release's version; empty if unknown.
        license: the identifier of its licence; empty if unknown.
        license_text: the text of its licence; None if it has none.
        schemas: the schemas by their paths in `schema/`.
        places: the paths that the release covers; schemas pinned at other paths are kept.
    """

    source: str
    version: str
    license: str
    license_text: bytes | None
    schemas: dict[str, bytes]
    places: tuple[str, ...] = PLACES

    def without(self, profile: str) -> Release:
        """Return the release without the schema of a profile, so that the pinned one is kept."""
        others = tuple(place for place in self.places if place not in PLACES_OF[profile])
        schemas = {file: content for file, content in self.schemas.items() if file in others}
        return replace(self, schemas=schemas, places=others)


def read_folder(folder: Path) -> Release:
    """Read a folder. The source is named after its package.json, or after the folder if there is none."""
    package = read_package_json(folder)
    name, version = package.get("name"), package.get("version", "")
    source = f"folder:{name}@{version}" if name else f"folder:{folder.resolve().name}"
    return read_release(folder, source, package)


def read_release(folder: Path, source: str, package: dict[str, Any]) -> Release:
    """Read the schemas in `schema/` of a folder, or in the folder itself."""
    home = next((candidate for candidate in (folder / "schema", folder) if find_files(candidate)), None)
    if home is None:
        raise FetchError(f"There is no schema in {source}. Expected at least one of {', '.join(PLACES)}.")
    files = sorted(find_files(home).values())
    paths = (path.relative_to(home) for path in sorted(home.rglob("schema*.json")))
    unknown = [path.as_posix() for path in paths if "node_modules" not in path.parts and path.as_posix() not in files]
    if unknown:
        message = f"{source} has a schema without a profile, {unknown[0]}. Add it to codegen/pinned/profiles.py."
        raise FetchError(message)
    text = next((path.read_bytes() for path in (folder / "LICENSE", home / "LICENSE") if path.is_file()), None)
    schemas = {file: (home / file).read_bytes() for file in files}
    return Release(source, package.get("version", ""), package.get("license", ""), text, schemas)


def read_package_json(folder: Path) -> dict[str, Any]:
    """Return the content of package.json; empty if there is none."""
    path = folder / "package.json"
    if not path.is_file():
        return {}
    try:
        package: Any = parse_json(path.read_bytes())
    except ValueError as error:
        raise FetchError(f"package.json is not JSON: {error}.") from error
    texts = ("name", "version", "license")
    if not is_object(package) or not all(
        isinstance(text := package.get(key, ""), str) and _NAME.fullmatch(text) for key in texts
    ):
        raise FetchError(
            "package.json doesn't describe a package: expected an object whose name, version and license are strings "
            "of letters, digits, spaces and @ . + / ( ) -."
        )
    return package
