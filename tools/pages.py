"""Pages in Markdown."""

from __future__ import annotations

import re
from pathlib import Path

_CODE = re.compile(r"```.*?```|^    [^\n]*$", re.DOTALL | re.MULTILINE)


def prose(page: Path) -> str:
    """Return the text of a page without its code."""
    return _CODE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings on GitHub."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
