"""Gets schemas from a source. Each kind of source has a module; this one chooses it."""

from __future__ import annotations

from pathlib import Path

from codegen.errors import FetchError
from codegen.pinned.sources.folder import Release, from_file, from_folder

SOURCES = "npm:<package>@<version or tag>, github:<tag>, a folder or a file"


def read_source(source: str) -> Release:
    """Read the schemas of a source of any kind.

    Raises:
        FetchError: the source doesn't exist, or has no schema.
    """
    if not source:
        raise FetchError(
            f"The source is missing. Give one, such as FROM=npm:@agentclientprotocol/sdk@latest: {SOURCES}."
        )
    # Both import urllib, which every command would wait for.
    if source.startswith("npm:"):
        from codegen.pinned.sources.npm import from_npm

        return from_npm(source.removeprefix("npm:"))
    if source.startswith("github:"):
        from codegen.pinned.sources.github import from_github

        return from_github(source.removeprefix("github:"))
    if Path(source).is_dir():
        return from_folder(Path(source))
    if Path(source).is_file():
        return from_file(Path(source))
    raise FetchError(f"{source} is not a source. Give {SOURCES}.")
