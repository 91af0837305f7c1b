"""Reads the schemas of a release from a folder: an unpacked package, or a folder of schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.errors import FetchError
from codegen.nodes import is_object
from codegen.pinned.pins import parse_json
from codegen.pinned.profiles import PLACES, PLACES_OF, find_files

# The name, version and licence of a package appear in generated code, pull requests and the documentation.
_NAME = re.compile(r"[\w@.+/() -]{0,200}", re.ASCII)


@dataclass(frozen=True)
class Release:
    """The schemas of a release, and their origin.

    Attributes:
        source: its name in PINNED.json, without paths of this machine.
        version: its version; empty if unknown.
        license: the identifier of its licence; empty if unknown.
        license_text: the text of its licence; None if there is none.
        schemas: its schemas, by their paths in `schema/`.
        places: the paths that it covers. Schemas that are pinned at other paths are kept.
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
    root = folder / "schema" if find_files(folder / "schema") else folder
    files = sorted(find_files(root).values())
    if not files:
        raise FetchError(f"There is no schema in {source}. Expected at least one of {', '.join(PLACES)}.")
    paths = (path.relative_to(root) for path in sorted(root.rglob("schema*.json")))
    unknown = [path.as_posix() for path in paths if "node_modules" not in path.parts and path.as_posix() not in files]
    if unknown:
        raise FetchError(
            f"{source} has a schema without a profile, {unknown[0]}. Add it to codegen/pinned/profiles.py."
        )
    licenses = [path for path in (folder / "LICENSE", root / "LICENSE") if path.is_file()]
    return Release(
        source=source,
        version=package.get("version", ""),
        license=package.get("license", ""),
        license_text=licenses[0].read_bytes() if licenses else None,
        schemas={file: (root / file).read_bytes() for file in files},
    )


def read_package_json(folder: Path) -> dict[str, Any]:
    """Return the content of package.json; empty if there is none."""
    path = folder / "package.json"
    if not path.is_file():
        return {}
    try:
        package: Any = parse_json(path.read_bytes())
    except ValueError as error:
        raise FetchError(f"package.json is not JSON: {error}.") from error
    texts = [package.get(key, "") for key in ("name", "version", "license")] if is_object(package) else [None]
    if not is_object(package) or not all(isinstance(text, str) and _NAME.fullmatch(text) for text in texts):
        raise FetchError(
            "package.json doesn't describe a package: expected an object whose name, version and license are strings "
            "of letters, digits, spaces and @ . + / ( ) -."
        )
    return package
