"""Reads descriptions, with those of union members and items, which have no class to carry them."""

from __future__ import annotations

from typing import Any

from codegen.escaping import code
from codegen.nodes import Node


def member_docs(schema: Any) -> list[str]:
    """Return the descriptions of a union's members and of items that have no class to carry them."""
    lines: list[str] = []
    for member in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        lines += _line(_label(member), member) + member_docs(member)
    for keyword in ("items", "additionalProperties"):
        item: Any = schema.get(keyword)
        if isinstance(item, dict):
            lines += _line(" ".join(["Each", *_title(item)]), item) + member_docs(item)
    return lines


def _line(label: str, schema: Any) -> list[str]:
    text = schema.get("description", "")
    return [f"\n{': '.join(part for part in (label, text) if part)}"] if text or "title" in schema else []


def titled(node: Node) -> str:
    """Take the title and the description of something that isn't named by its title."""
    return "\n\n".join(filter(None, (node.take("title", str, ""), node.take("description", str, ""))))


def with_member_docs(doc: str, schema: Any) -> str:
    return "\n".join([doc, *member_docs(schema)]).strip()


def _label(member: Any) -> str:
    """Return the constant and the title of a member; empty for a group of members."""
    constant = [code(str(member["const"]))] if "const" in member else []
    names = " ".join([*constant, *_title(member)])
    return names or ("" if "anyOf" in member else "Other values")


def _title(schema: Any) -> list[str]:
    """Return the title as a list; empty if the description begins with it."""
    title = schema.get("title")
    return [code(title)] if title and not schema.get("description", "").startswith(f"**{title}**") else []
