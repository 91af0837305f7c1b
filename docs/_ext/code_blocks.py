"""Each line of code is an element, so that site.css can wrap long messages."""

from __future__ import annotations

from itertools import count

from docutils import nodes  # type: ignore[import-untyped]  # mypy brings no stubs of it
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _wrap_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _wrap_lines(_app: Sphinx, doctree: nodes.document) -> None:
    """Tell Pygments to put each line into an element."""
    numbers = count(1)
    for block in doctree.findall(nodes.literal_block):
        block["highlight_args"] = {"linespans": f"code-{next(numbers)}"}
