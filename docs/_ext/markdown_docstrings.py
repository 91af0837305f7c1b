"""Docstrings use the Markdown that upstream's schema uses; autodoc expects reStructuredText.

Upstream's text must not act, so no directive or role of reStructuredText works in a docstring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

# Code, links, and what reStructuredText acts on otherwise: backticks, the dots that begin a directive, URIs.
_INLINE = re.compile(
    r"(?<!`)`(?P<code>[^\s`](?:[^`]*[^\s`])?)`(?!`)"
    r"|\[(?P<text>[^\]`<>\\]+)\]\((?P<url>https?://[^\s()<>`\\]+)\)"
    r"|(?P<live>\\*`|(?<!\S)\.\.(?!\S)|(?i:data|file|javascript|vbscript)(?=:))"
)
_BLOCK = re.compile(r"^( *)\S.*(?:[^:]):$")
_LIST = re.compile(r"^ *(?:[-*]|\d+\.) ")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", _convert, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _convert(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Replace the lines of a docstring, before Napoleon reads its sections."""
    lines[:] = _converted(lines)


def _converted(lines: list[str]) -> Iterator[str]:
    item = ""  # the marker of the list's item that the line continues
    for index, line in enumerate(lines):
        marker = _LIST.match(line)
        inner = bool(marker and item and _indent(line) > _indent(item))
        if inner or (marker and not item and index and lines[index - 1]):
            yield ""
        # In Markdown, an item's further lines need no indentation, and an inner list less.
        continues = item and line and (inner or not marker) and _indent(line) < len(item)
        text = " " * len(item) + line.lstrip() if continues else line
        if not inner:
            item = marker[0] if marker else item if line else ""
        yield _code_follows(_INLINE.sub(_inline, text), lines[index + 1 : index + 3])


def _inline(match: re.Match[str]) -> str:
    if match["live"]:
        return "".join(f"\\{char}" for char in match["live"])
    text = f"``{match['code']}``" if match["code"] else f"`{match['text']} <{match['url']}>`__"
    # An escaped space is not shown. Without it, markup beside some characters isn't markup.
    before, after = match.string[: match.start()][-1:].strip(), match.string[match.end() :][:1].strip()
    return ("\\ " if before else "") + text + ("\\ " if after else "")


def _code_follows(line: str, after: list[str]) -> str:
    """Mark a sentence that an indented block of code follows: `For example:` becomes `For example::`."""
    indented = len(after) == 2 and not after[0] and _indent(after[1]) > _indent(line)
    return f"{line}:" if indented and _BLOCK.match(line) else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
