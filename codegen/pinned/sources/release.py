"""The schemas that were read from a source."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from codegen.errors import FetchError
from codegen.pinned.profiles import PLACES


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


def check_known(source: str, found: Iterable[str], known: Collection[str]) -> None:
    """Refuse schemas that belong to no profile, so that none is dropped silently."""
    for file in found:
        if file not in known:
            raise FetchError(f"{source} has a schema without a profile, {file}. Add it to codegen/pinned/profiles.py.")
