"""The pages of the protocol reference, rendered once for each process, and the blocks in them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt

from codegen.ir import Schema
from codegen.reference.pages import reference
from codegen.regen import read_schema
from tests.support.docs.blocks import Block, blocks_of
from tests.support.models.modules import raw_schema
from tools.paths import ROOT


@cache
def pages() -> dict[str, str]:
    """All pages, by the names of their files."""
    return reference(ROOT / "schema")


@cache
def schema() -> Schema:
    return read_schema(raw_schema("v1"), "v1")


def headings(text: str) -> list[str]:
    """Return the headings of a page."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [content.content for token, content in pairwise(tokens) if token.type == "heading_open"]


def blocks(language: str) -> list[tuple[str, Block]]:
    """Return the blocks of all pages in a language, each with the name of its page."""
    return [(page, block) for page, text in pages().items() for block in blocks_of(text) if block.language == language]


def messages() -> list[tuple[str, Block]]:
    """Return the blocks with the messages of methods, each with the name of its page."""
    return [(page, block) for page, block in blocks("json") if block.heading == "Messages"]
