"""Links from a page to files outside docs/ lead to the repository, because the site doesn't have these files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_config_value("repository_url", "", "env")
    app.connect("source-read", _link_to_repository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link_to_repository(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the relative links of a page that leave docs/, and those of pages included from outside."""
    docs = Path(app.srcdir)
    folder = (docs / page).parent

    def replace(match: re.Match[str]) -> str:
        path = Path(os.path.normpath(folder / match[1]))
        if path.is_relative_to(docs) or not path.is_relative_to(docs.parent) or not path.exists():
            return match[1]
        return f"{app.config.repository_url}/blob/main/{path.relative_to(docs.parent).as_posix()}"

    source[0] = _LINK.sub(replace, source[0])
