"""`python -m codegen reference <folder>`: write the protocol reference."""

from __future__ import annotations

import argparse
from pathlib import Path

from codegen.console import write_output
from codegen.files.folders import replace_folder
from codegen.pinned.pins import load
from codegen.reference.pages import reference_pages
from codegen.regen import encoded, read_schema

_SCHEMA = Path(__file__).resolve().parents[2] / "schema"


def run(options: argparse.Namespace) -> int:
    """Write the pages, and print how many there are."""
    write_output(f"{write(options.folder)} pages\n")
    return 0


def write(folder: Path) -> int:
    """Replace a folder by the pages of the protocol reference, and return their number.

    Raises:
        SchemaError: the schema has something that the generator has no rule for.
    """
    pages = reference()
    replace_folder(folder, encoded(pages))
    return len(pages)


def reference() -> dict[str, str]:
    """Return the pages of the protocol reference, by the names of their files."""
    found = load(_SCHEMA, pinned=True)
    schemas = {each.profile: read_schema(each.schema, each.profile.table) for each in found}
    return {f"{name}.md": text for name, text in reference_pages(schemas).items()}
