"""Makes Python names from names on the wire. Each kind of name has one rule, without exceptions and tables."""

from __future__ import annotations

import keyword
import re

from pydantic import BaseModel

from acp_runtime.models.json_values import wire_name

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Names that pydantic's base class has, or that generated code uses in the scope of the attribute. `list` is not among
# them: datamodel-code-generator imports the built-in under another name where a field has that name.
_RESERVED = frozenset(name for name in dir(BaseModel) if not name.startswith("_")).union(
    ("absent", "bool", "dict", "float", "int", "methods", "self", "str", "tag")
)


def words(text: str) -> list[str]:
    """Split a name into lower-case words: `resource_link`, `resourceLink`, `resource-link` give `resource`, `link`."""
    return [word.lower() for word in _WORD.findall(text)]


def snake(text: str) -> str:
    return "_".join(words(text))


def pascal(text: str) -> str:
    return "".join(word.capitalize() for word in words(text))


def attribute_name(wire: str) -> str | None:
    """Return the Python attribute of a JSON key, or None if the key can't be derived from the attribute again."""
    name = "meta" if wire == "_meta" else snake(wire)
    if keyword.iskeyword(name) or name in _RESERVED:
        name += "_"
    return name if name.isidentifier() and wire_name(name) == wire else None


def method_name(wire: str) -> str:
    """Return the Python name of a method: `session/new` -> `session_new`, `document/didOpen` -> `document_did_open`."""
    return snake(wire)


def is_class_name(name: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Za-z0-9]{0,199}", name) is not None and not keyword.iskeyword(name)
