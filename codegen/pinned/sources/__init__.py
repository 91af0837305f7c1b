"""Where schemas come from: one module a kind of source, and here the choice between them."""

from __future__ import annotations

from pathlib import Path

from codegen.errors import FetchError
from codegen.pinned.sources.folder import from_file, from_folder
from codegen.pinned.sources.github import from_github
from codegen.pinned.sources.npm import from_npm
from codegen.pinned.sources.release import Release

SOURCES = "npm:<package>@<version or tag>, github:<tag>, a folder or a file"


def read_source(source: str) -> Release:
    """Read a source, whatever it is.

    Raises:
        FetchError: if it isn't there, or there is no schema in it.
    """
    if not source:
        raise FetchError(f"Say from where, for instance FROM=npm:@agentclientprotocol/sdk@latest: {SOURCES}.")
    if source.startswith("npm:"):
        return from_npm(source.removeprefix("npm:"))
    if source.startswith("github:"):
        return from_github(source.removeprefix("github:"))
    if Path(source).is_dir():
        return from_folder(Path(source))
    if Path(source).is_file():
        return from_file(Path(source))
    raise FetchError(f"{source} is neither a folder nor a file. A source is one of {SOURCES}.")
