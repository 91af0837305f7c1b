"""Profiles, the packages to generate, and where their schemas are in a folder of schemas."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import SchemaError

# The paths where upstream has published the schema of each profile. Up to release 1.9, version 1 had one file,
# `schema.json`, which became `v1/schema.unstable.json` (in 1.9.0 and 2.0.0, both are the same).
PLACES_OF = {
    "v1": ("v1/schema.json",),
    "v1_unstable": ("v1/schema.unstable.json", "schema.json"),
    "v2_draft": ("v2/schema.json",),
    "v2_draft_unstable": ("v2/schema.unstable.json",),
}
PROFILES = tuple(PLACES_OF)
# The only profile that promises compatibility.
STABLE = "v1"
PLACES = tuple(place for places in PLACES_OF.values() for place in places)
_TITLES = {
    "v1": "ACP version 1",
    "v1_unstable": "ACP version 1 with its unstable methods",
    "v2_draft": "the draft of ACP version 2",
    "v2_draft_unstable": "the draft of ACP version 2 with its unstable methods",
}


@dataclass(frozen=True)
class Profile:
    """A package to generate, and the origin of its schema.

    Attributes:
        name: the package's name.
        file: the schema's path in its folder, with slashes.
        sha256: the SHA-256 of the file.
        source: where the schema was fetched from; empty for a folder without pins.
        version: the release's version; empty for a folder without pins.
    """

    name: str
    file: str
    sha256: str
    source: str
    version: str

    @property
    def title(self) -> str:
        return _TITLES[self.name]

    @property
    def heading(self) -> str:
        """The title with a capital letter."""
        return self.title[:1].upper() + self.title[1:]

    @property
    def protocol_version(self) -> int:
        return int(self.name[1])

    @property
    def version_tables(self) -> str:
        """The name of its version's tables in `methods.toml`, such as `v1`."""
        return find_version_tables(self.name)

    @property
    def is_unstable(self) -> bool:
        return self.name.endswith("_unstable")

    @property
    def own_tables(self) -> str:
        """The name of its own tables there, such as `v1_unstable`, which take precedence over its version's."""
        return find_own_tables(self.name)


def find_version_tables(profile: str) -> str:
    """Return the name of the tables in `methods.toml` for all profiles of a profile's version: `v2` for `v2_draft`."""
    return profile.partition("_")[0]


def find_own_tables(profile: str) -> str:
    """Return the name of a profile's own tables in `methods.toml`: `v2_unstable` for `v2_draft_unstable`."""
    return find_version_tables(profile) + ("_unstable" if profile.endswith("_unstable") else "")


@contextmanager
def name_in_errors(profile: Profile) -> Generator[None]:
    """Add the profile and the file of its schema to errors."""
    try:
        yield
    except SchemaError as error:
        error.profile = error.profile or profile.name
        error.name_source(profile.file)
        raise


def find_files(folder: Path) -> dict[str, str]:
    """Return the profiles that a folder has a schema for, with the path of each schema in the folder."""
    files: dict[str, str] = {}
    for name, places in PLACES_OF.items():
        present = [place for place in places if (folder / place).is_file()]
        if present:
            files[name] = present[0]
    return files
