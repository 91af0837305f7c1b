"""`python -m codegen reference <folder>`: write the protocol reference."""

from __future__ import annotations

import argparse
from pathlib import Path

from codegen.console import write_output
from codegen.diff.sources import Snapshot
from codegen.files import replace_folders
from codegen.pinned.pins import load
from codegen.reference.pages import reference_pages
from codegen.regen import encoded, read_schema

_SCHEMA = Path(__file__).resolve().parents[2] / "schema"


def run(options: argparse.Namespace) -> int:
    """Replace a folder by the pages, and print how many there are.

    Raises:
        SchemaError: the schema has something that the generator has no rule for.
    """
    pages = reference()
    replace_folders({options.folder: encoded(pages)})
    write_output(f"{len(pages)} pages\n")
    return 0


def reference() -> dict[str, str]:
    """Return the pages of the protocol reference, by the names of their files."""
    found = load(_SCHEMA, pinned=True)
    profiles = {
        each.profile: Snapshot(each.profile.file, each.schema, read_schema(each.schema, each.profile.facts))
        for each in found
    }
    return {f"{name}.md": text for name, text in reference_pages(profiles).items()}
