"""Makes Python names from wire names. Each kind of name has one rule, without exceptions or tables."""

from __future__ import annotations

import keyword
import re

from pydantic import BaseModel

from acp_runtime.models.json_values import wire_name

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Names of pydantic's base class, and names that generated code uses inside classes. `list` is not reserved, because
# datamodel-code-generator imports the built-in as `list_aliased` if a field is named `list`.
_RESERVED = frozenset(name for name in dir(BaseModel) if not name.startswith("_")).union(
    ("absent", "bool", "dict", "float", "int", "methods", "self", "str", "tag")
)


def words(text: str) -> list[str]:
    """Split a name into lower-case words: `resource_link`, `resourceLink` and `resource-link` have the same two."""
    return [word.lower() for word in _WORD.findall(text)]


def snake(text: str) -> str:
    return "_".join(words(text))


def pascal(text: str) -> str:
    return "".join(word.capitalize() for word in words(text))


def attribute_name(wire: str) -> str | None:
    """Return the Python attribute of a JSON key; None if the attribute doesn't convert back to the key."""
    name = "meta" if wire == "_meta" else snake(wire)
    if keyword.iskeyword(name) or name in _RESERVED:
        name += "_"
    return name if name.isidentifier() and wire_name(name) == wire else None


def is_attribute_name(name: str) -> bool:
    is_reserved = keyword.iskeyword(name) or name in _RESERVED
    return name.isidentifier() and not name.startswith("_") and not is_reserved  # `_` begins pydantic's private ones


def method_name(wire: str) -> str:
    """Return the Python name of a method: `session/new` -> `session_new`, `document/didOpen` -> `document_did_open`."""
    return snake(wire)


def is_method_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def is_class_name(name: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Za-z0-9]{0,199}", name) is not None and not keyword.iskeyword(name)
