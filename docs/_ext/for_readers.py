"""What readers of the site don't need: comments for the tests, and pages for maintainers in their search results."""

from __future__ import annotations

import re

from docutils import nodes  # type: ignore[import-untyped]  # mypy brings no stubs of it
from sphinx.application import Sphinx

# Such as `<!-- not run: needs an editor -->`, see tests/support/docs/blocks.py.
_COMMENT = re.compile(r"^ *<!--.*?-->\n", re.MULTILINE | re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _without_comments)
    app.connect("doctree-read", _not_searched)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _without_comments(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = _COMMENT.sub("", source[0])


def _not_searched(app: Sphinx, _doctree: nodes.document) -> None:
    """Keep the pages in docs/project/ out of the search. Sphinx reads this metadata when it makes the index."""
    if app.env.docname.startswith("project/"):
        app.env.metadata[app.env.docname]["nosearch"] = True
