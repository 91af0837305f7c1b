"""Checks the built pages: links inside the site lead somewhere, and no page loads anything from another host."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

_LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
_NOT_LOADED = {"canonical", "alternate", "next", "prev", "search", "index"}
_logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("build-finished", _check, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _Page(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        values = {key: value or "" for key, value in attrs}
        self.ids |= {values[key] for key in ("id", "name") if key in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        for key in ("src", "href"):
            if (tag, key) in _LOADED and key in values and not _NOT_LOADED & set(values.get("rel", "").split()):
                self.loaded.add(values[key])


def _check(app: Sphinx, error: Exception | None) -> None:
    """Log a warning for each fault, which fails `make docs`."""
    if error or app.builder.name != "html":
        return
    site = Path(app.outdir)
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in sorted(page.loaded):
            if urlsplit(address).netloc:
                _logger.warning("%s loads %s from another host", name, address)
        for link in sorted(page.links):
            if not _leads_somewhere(path, link, pages):
                _logger.warning("%s links to %s, which doesn't exist", name, link)


def _leads_somewhere(path: Path, link: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return target.is_file() and not parts.fragment
    return not parts.fragment or unquote(parts.fragment) in pages[target].ids
