"""The schemas that were read from a source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.pinned.profiles import PLACES, PLACES_OF


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
