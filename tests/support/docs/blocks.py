"""The code blocks of a page, with the page's comments about how they are checked.

A comment on the line above a block's fence can say why it isn't checked: `<!-- not run: needs an editor -->`.
Above JSON, `<!-- json: InitializeResponse -->` names the model of an object that isn't a request or a notification.
Anywhere on a page, `<!-- run: python agent.py -->` is a command that readers don't see, and
`<!-- files: quickstart-client.md -->` says that the reader has the files of another page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

from tools.paths import ROOT

DOCS = ROOT / "docs"
# `make docs` writes the pages in this folder. tests/codegen/reference/ tests them.
GENERATED = DOCS / "reference" / "protocol"
_COMMENT = re.compile(r"<!--\s*(not run|json):\s*(.+?)\s*-->")
_RUN = re.compile(r"<!--\s*run:\s*(.+?)\s*-->")
_FILES = re.compile(r"^<!--\s*files:\s*(\S+)\s*-->", re.MULTILINE)
_FILE_NAME = re.compile(r"# (\w+\.py)\n")
# Commands and types whose output or result is checked by other means, or that only show something.
CHECKED = {"python", "sh", "json"}
SHOWN = {"text", "toml"}


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    heading: str
    """The nearest heading above it."""
    language: str
    text: str
    line: int
    remark: tuple[str, str] | None
    """What the comment above says: `("not run", reason)` or `("json", model)`."""
    follows: int | None
    """The index of the block that comes directly before, without text between."""

    @property
    def not_run(self) -> str | None:
        """Why the block isn't checked."""
        return self.remark[1] if self.remark and self.remark[0] == "not run" else None

    @property
    def file_name(self) -> str | None:
        """The file that begins with this block."""
        match = _FILE_NAME.match(self.text)
        return match[1] if match else None


def pages() -> list[Path]:
    """Return the README and the pages in docs/, without the generated ones."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if GENERATED not in page.parents)]


def name(page: Path) -> str:
    """Return the path of a page, as the name of a test."""
    return page.relative_to(ROOT).as_posix()


def pages_before(page: Path) -> list[Path]:
    """Return the pages whose files the reader of this page has."""
    return [page.parent / path for path in _FILES.findall(page.read_text("utf-8"))]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, without directives of MyST. The language of code without a fence is `indented`."""
    return blocks_of(page.read_text("utf-8"))


@cache  # several modules of tests have a test for each block
def blocks_of(text: str) -> list[Block]:
    """Return the blocks of the text of a page."""
    tokens = MarkdownIt("commonmark").parse(text)
    heading = ""
    blocks: list[Block] = []
    remark: tuple[str, str] | None = None
    adjacent = False
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[index + 1].content
        if token.type == "code_block":
            blocks.append(Block(heading, "indented", token.content, (token.map or [0])[0] + 1, None, None))
        elif token.type == "html_block" and (match := _RUN.match(token.content)):
            blocks.append(Block(heading, "sh", f"{match[1]}\n", (token.map or [0])[0] + 1, None, None))
        elif token.type == "html_block" and (match := _COMMENT.match(token.content)):
            remark = (match[1], match[2])
        elif token.type == "fence" and not token.info.startswith("{"):
            language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
            before = len(blocks) - 1 if adjacent and blocks else None
            blocks.append(Block(heading, language, token.content, (token.map or [0])[0] + 1, remark, before))
            remark, adjacent = None, True
        else:
            remark, adjacent = None, False
    return blocks
