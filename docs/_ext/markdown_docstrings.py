"""Docstrings use the Markdown that upstream's schema uses; autodoc expects reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)")
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
        text = _LINK.sub(r"`\1 <\2>`__", _CODE.sub(r"``\1``", text))
        yield _code_follows(text, lines[index + 1 : index + 3])


def _code_follows(line: str, after: list[str]) -> str:
    """Mark a sentence that an indented block of code follows: `For example:` becomes `For example::`."""
    indented = len(after) == 2 and not after[0] and _indent(after[1]) > _indent(line)
    return f"{line}:" if indented and _BLOCK.match(line) else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
