"""Names: from the wire to Python, by rule and never by table, and never by position."""

from __future__ import annotations

import keyword
import re

from pydantic import BaseModel

from acp_runtime.models.names import wire_name

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# What pydantic uses, and what the generated classes and methods use in the scope where the attribute stands. A field
# may be called `list`: datamodel-code-generator gives the built-in an alias where it is.
_TAKEN = frozenset(name for name in dir(BaseModel) if not name.startswith("_")).union(
    ("bool", "dict", "float", "int", "methods", "self", "str", "tag")
)


def words(text: str) -> list[str]:
    """`resource_link`, `resourceLink` and `resource-link` are `resource`, `link`."""
    return [word.lower() for word in _WORD.findall(text)]


def snake(text: str) -> str:
    return "_".join(words(text))


def pascal(text: str) -> str:
    return "".join(word.capitalize() for word in words(text))


def attribute_name(wire: str) -> str | None:
    """The Python attribute of a JSON key, or None where the rule can't find its way back to the key."""
    name = "meta" if wire == "_meta" else snake(wire)
    if keyword.iskeyword(name) or name in _TAKEN:
        name += "_"
    return name if name.isidentifier() and wire_name(name) == wire else None


def method_name(wire: str) -> str:
    """`session/new`: `session_new`, `document/didOpen`: `document_did_open`, `$/cancel_request`: `cancel_request`."""
    return snake(wire)


def is_class_name(name: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) is not None and not keyword.iskeyword(name)
