"""Values of a schema's types, which are written both as JSON and as Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from codegen.ir import Field

# A value of each format of strings.
FORMATS = {"uri": "https://example.com", "date-time": "2026-01-31T12:00:00Z", "base64": "aGVsbG8=", "regex": ".*"}


@dataclass(frozen=True)
class Object:
    """An instance of a model, with the values of the fields that are not absent."""

    model: str
    fields: tuple[tuple[Field, Example], ...]


# JSON, with an `Object` wherever a model is.
Example: TypeAlias = "Object | str | float | list[Example] | dict[str, Example] | None"


def as_json(example: Example) -> Any:
    """Return an example as it is on the wire."""
    match example:
        case Object(fields=fields):
            return {field.wire: as_json(each) for field, each in fields}
        case list(items):
            return [as_json(each) for each in items]
        case dict(entries):
            return {key: as_json(each) for key, each in entries.items()}
        case value:
            return value


def as_python(example: Example, prefix: str = "") -> str:
    """Return an expression for an example, with a prefix for the names of models. It isn't formatted."""
    match example:
        case Object(model=model, fields=fields):
            return f"{prefix}{model}({keywords([each for each in fields if each[0].tag is None], prefix)})"
        case list(items):
            return f"[{', '.join(as_python(each, prefix) for each in items)}]"
        case dict(entries):
            return f"{{{', '.join(f'{key!r}: {as_python(each, prefix)}' for key, each in entries.items())}}}"
        case value:
            return repr(value)


def keywords(fields: list[tuple[Field, Example]], prefix: str = "") -> str:
    """Return the keyword arguments for fields."""
    return ", ".join(f"{field.name}={as_python(each, prefix)}" for field, each in fields)
