"""Code on pages: long messages wrap, and in a guide's program the lines that every program has are grey.

A program of a guide runs as pasted, so it begins with imports and ends with `asyncio.run(main())`. Such statements and
methods are found by their text: those in the program on the home page, and those that occur in several programs.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

from docutils import nodes  # type: ignore[import-untyped]  # mypy brings no stubs of it
from markdown_it import MarkdownIt
from sphinx.application import Sphinx

SEVERAL = 5


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _prepare(app: Sphinx, doctree: nodes.document) -> None:
    """Tell Pygments to put each line into an element, and which lines are grey."""
    guide = app.env.docname.startswith("guides/")
    numbers = count(1)
    for block in doctree.findall(nodes.literal_block):
        options: dict[str, object] = {"linespans": f"code-{next(numbers)}"}
        if guide and block["language"] == "python" and _is_program(block.astext()):
            options["hl_lines"] = grey_lines(block.astext(), _repeated(Path(app.srcdir)))
        block["highlight_args"] = options


def grey_lines(program: str, repeated: frozenset[str]) -> list[int]:
    """Return the numbers of the lines whose statement or method is repeated."""
    return [
        line
        for part in _parts(ast.parse(program))
        if ast.get_source_segment(program, part) in repeated
        for line in range(part.lineno, (part.end_lineno or part.lineno) + 1)
    ]


@cache
def _repeated(docs: Path) -> frozenset[str]:
    """Return the statements and methods of the home page's program, and those that occur in several guides."""
    home = [text for program in _programs(docs / "index.md") for text in _texts(program)]
    guides = Counter(
        text
        for page in (docs / "guides").rglob("*.md")
        for text in {text for program in _programs(page) for text in _texts(program)}
    )
    return frozenset(home) | {text for text, number in guides.items() if number >= SEVERAL}


def _programs(page: Path) -> Iterator[str]:
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "fence" and token.info.strip() == "python" and _is_program(token.content):
            yield token.content


def _is_program(text: str) -> bool:
    """A block that begins a file says its name in a comment."""
    return text.startswith("# ") and text.partition("\n")[0].endswith(".py")


def _texts(program: str) -> Iterator[str]:
    for part in _parts(ast.parse(program)):
        yield ast.get_source_segment(program, part) or ""


def _parts(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a program, and those of its classes."""
    for statement in module.body:
        if isinstance(statement, ast.ClassDef):
            yield from statement.body
        else:
            yield statement
