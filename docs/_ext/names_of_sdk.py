"""A search for a name of the official SDK finds its row in docs/moving-names.md first.

The name becomes an entry of the index, which the search ranks before text. Names that are the same here are left out,
and so are single words such as `prompt`, which mean more than the SDK's method.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes  # type: ignore[import-untyped]  # mypy brings no stubs of it
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "moving-names"
_NAME = re.compile(r"(?:\w+\.)*(\w+)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(NamesOfSdk)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class NamesOfSdk(SphinxTransform):
    """Adds the names in the first column of the page's tables to the index."""

    default_priority = 800  # before Sphinx collects the index

    def apply(self, **_options: object) -> None:
        """Give each row of a name an id, and the page the entries."""
        if self.env.docname != PAGE:
            return
        entries = addnodes.index(entries=[])
        for number, row in enumerate(self.document.findall(nodes.row)):
            row["ids"].append(f"name-{number}")
            cells = [[code.astext() for code in cell.findall(nodes.literal)] for cell in row.children]
            for name in _searched(cells[0], cells[1]):
                entries["entries"].append(("single", name, f"name-{number}", "main", None))
        self.document.insert(0, entries)


def _searched(theirs: list[str], ours: list[str]) -> Iterator[str]:
    """Yield the names that someone who knows the SDK would search for."""
    for text in theirs:
        match = _NAME.match(text)
        name = match[1] if match else ""
        if name not in ours and ("_" in name or name[1:].lower() != name[1:]):
            yield name
        if "_" in name and name.islower():
            yield re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)  # the deprecated name
