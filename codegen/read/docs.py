"""Reads descriptions. Union members and items have no class, so their descriptions go to the definition around them."""

from __future__ import annotations

import re
from typing import Any

from codegen.escaping import code
from codegen.nodes import Node

_UNSTABLE = re.compile(r"\A\s*\*\*UNSTABLE\*\*\s*(This capability is not part of the spec yet\b.*)?\s*")


def list_member_docs(schema: Any) -> list[str]:
    """Return a line for each described member of a union, and for described items."""
    lines: list[str] = []
    for member in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        lines += _describe(_write_label(member), member) + list_member_docs(member)
    for keyword in ("items", "additionalProperties"):
        item: Any = schema.get(keyword)
        if isinstance(item, dict):
            lines += _describe(" ".join(["Each", *_write_title(item)]), item) + list_member_docs(item)
    return lines


def _describe(label: str, schema: Any) -> list[str]:
    text = schema.get("description", "")
    return [f"\n{': '.join(part for part in (label, text) if part)}"] if text or "title" in schema else []


def take_title_and_description(node: Node) -> str:
    """Take a title and a description as one text. For schemas that aren't named by their title."""
    return "\n\n".join(filter(None, (node.take("title", str, ""), node.take("description", str, ""))))


def add_member_docs(doc: str, schema: Any) -> str:
    return "\n".join([doc, *list_member_docs(schema)]).strip()


def drop_unstable_notice(doc: str) -> str:
    """Return a description without upstream's notice about unstable features: a heading, and mostly a sentence."""
    return _UNSTABLE.sub("", doc)


def split_sentences(doc: str) -> list[str]:
    """Return the sentences of a description, each on one line."""
    return [" ".join(sentence.split()) for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", doc.strip())]


def _write_label(member: Any) -> str:
    """Return the constant and the title of a member as text; empty for a group of members."""
    constant = [code(str(member["const"]))] if "const" in member else []
    names = " ".join([*constant, *_write_title(member)])
    return names or ("" if "anyOf" in member else "Other values")


def _write_title(schema: Any) -> list[str]:
    """Return the title as a list; empty if the description begins with it."""
    title = schema.get("title")
    return [code(title)] if title and not schema.get("description", "").startswith(f"**{title}**") else []
