"""Turns upstream's descriptions into docstrings, each written once."""

from __future__ import annotations

from typing import Any

from codegen.escaping import code, docstring
from codegen.ir import Definition, Field, Model, Schema
from codegen.nodes import Node

# Nearly every object has this key, with a description that begins like this. It is written once, at the end of the
# module. A place without a description is marked, so that the output changes if upstream drops a description.
_META, _META_BEGINNING = "_meta", "The _meta property is reserved"
_UNDESCRIBED = "Upstream does not describe it here."


class Docs:
    """Decides which description is written where, for one schema. A definition's docstring depends on it alone."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of(self, definition: Definition) -> str:
        """Return a definition's description; empty if it is the same as its base's."""
        base = definition.base if isinstance(definition, Model) else None
        return "" if base and self._schema.definitions[base].doc == definition.doc else definition.doc.strip()

    def source(self, text: str, indent: int) -> str:
        return docstring(text, indent) if text else ""

    def of_field(self, field: Field) -> str:
        if field.wire != _META:
            return field.doc
        return "" if _is_shared(field) else field.doc or _UNDESCRIBED


def _is_shared(field: Field) -> bool:
    return field.wire == _META and field.doc.startswith(_META_BEGINNING)


def shared_descriptions(schema: Schema) -> list[str]:
    """Return the descriptions of `_meta` that nearly every object has, each once."""
    models = [each for each in schema.definitions.values() if isinstance(each, Model)]
    return list(dict.fromkeys(field.doc for model in models for field in model.fields if _is_shared(field)))


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
