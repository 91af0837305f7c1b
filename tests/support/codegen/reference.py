"""The pages of the protocol reference, rendered once for each process, and the blocks in them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from codegen.ir import Schema
from codegen.reference.pages import reference
from codegen.regen import read_schema
from tests.support.paths import ROOT

_HEADING = re.compile(r"#+ (?P<text>.+)")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the name of the page's file.
        heading: the nearest heading above it.
        language: its language.
        text: its content.
    """

    page: str
    heading: str
    language: str
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


def at(raw: dict[str, Any], pointer: str) -> Any:
    """Return the part of a schema that a JSON pointer leads to."""
    return reduce(lambda node, key: node[int(key) if key.isdigit() else key], pointer.split("/")[1:], raw)


def headings(text: str) -> list[str]:
    """Return the headings of a page, without lines of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [found["text"] for line in prose.splitlines() if (found := _HEADING.fullmatch(line))]


def blocks(language: str) -> list[Block]:
    """Return the blocks of all pages in a language."""
    return [each for page, text in pages().items() for each in _of_page(page, text) if each.language == language]


def _of_page(page: str, text: str) -> list[Block]:
    found: list[Block] = []
    heading, inside = "", None
    for line in text.splitlines():
        if line.startswith("```"):
            if inside is None:
                inside = Block(page, heading, line.removeprefix("```"), "")
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside = Block(inside.page, inside.heading, inside.language, f"{inside.text}{line}\n")
        elif match := _HEADING.fullmatch(line):
            heading = match["text"]
    return found
