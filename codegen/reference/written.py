"""Writes examples as JSON and as Python."""

from __future__ import annotations

import json
from typing import Any

from codegen.ir import Field
from codegen.nodes import is_array, is_object
from codegen.reference.examples import Example, Object

_WIDTH = 72


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


def json_text(value: Any, indent: int = 0, used: int = 0) -> str:
    """Return JSON as text. Lists and objects that fit on one line, beside `used` characters, are on one line."""
    line = json.dumps(value)
    if indent + used + len(line) <= _WIDTH:
        return line
    if is_object(value):
        items = [f'"{key}": {json_text(each, indent + 2, len(key) + 4)}' for key, each in value.items()]
    elif is_array(value):
        items = [json_text(each, indent + 2) for each in value]
    else:
        return line
    first, last, inside = line[0], line[-1], " " * (indent + 2)
    lines = f",\n{inside}".join(items)
    return f"{first}\n{inside}{lines}\n{' ' * indent}{last}"


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
