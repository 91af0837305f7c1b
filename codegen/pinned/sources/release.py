"""What a source of schemas has, whatever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from codegen.errors import FetchError
from codegen.pinned.profiles import PLACES


@dataclass(frozen=True)
class Release:
    """What a source has.

    Attributes:
        source: what to call it in PINNED.json; names no place on this machine.
        version: the release's version; empty if nothing says it.
        license: the identifier of its licence; empty likewise.
        license_text: the licence itself, if it comes with one.
        schemas: the schemas, by their paths in `schema/`.
        places: the paths it decides about; a schema that is pinned in another place stays.
    """

    source: str
    version: str
    license: str
    license_text: bytes | None
    schemas: dict[str, bytes]
    places: tuple[str, ...] = PLACES


def check_known(source: str, found: Iterable[str], known: Collection[str]) -> None:
    """A schema that no profile is made of stops the fetch: nothing is dropped unseen."""
    for file in found:
        if file not in known:
            raise FetchError(
                f"{source} has a schema that no profile is made of, {file}. Add it to codegen/pinned/profiles.py."
            )
