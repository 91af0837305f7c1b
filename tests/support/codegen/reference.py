"""The pages of the protocol reference, rendered once for each process, and the blocks in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from codegen.ir import Schema
from codegen.reference.pages import reference
from codegen.regen import read_schema
from tests.support.paths import ROOT


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the name of the page's file.
        heading: the nearest heading above it.
        text: its content.
    """

    page: str
    heading: str
    text: str


@cache
def pages() -> dict[str, str]:
    """All pages, by the names of their files."""
    return reference(ROOT / "schema")


@cache
def raw_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / "schema/v1/schema.json").read_text("utf-8"))
    return schema


@cache
def schema() -> Schema:
    return read_schema(raw_schema(), "v1")


def headings(text: str) -> list[str]:
    """Return the headings of a page."""
    tokens = _tokens(text)
    return [content.content for token, content in pairwise(tokens) if token.type == "heading_open"]


def blocks(language: str) -> list[Block]:
    """Return the blocks of all pages in a language."""
    results: list[Block] = []
    for page, text in pages().items():
        heading = ""
        tokens = _tokens(text)
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                heading = tokens[index + 1].content
            elif token.type == "fence" and token.info == language:
                results.append(Block(page, heading, token.content))
    return results


@cache
def _tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").parse(text)
