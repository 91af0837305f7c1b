"""Writes examples as JSON and as Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codegen.ir import Field
from codegen.nodes import is_array, is_object
from codegen.reference.examples import Entries, Example, Items, Object, Value

_WIDTH = 72


def as_json(example: Example) -> Any:
    """Return an example as it is on the wire."""
    match example:
        case Value(json=value):
            return value
        case Items(items=items):
            return [as_json(each) for each in items]
        case Entries(entries=entries):
            return {key: as_json(each) for key, each in entries}
        case Object(fields=fields):
            return {field.wire: as_json(each) for field, each in fields}


def json_text(value: Any, indent: int = 0, used: int = 0) -> str:
    """Return JSON as text. Lists and objects that fit on one line, beside `used` characters, are on one line."""
    line = json.dumps(value, ensure_ascii=False)
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


def as_python(example: Example) -> str:
    """Return an expression for an example. It isn't formatted."""
    match example:
        case Value(json=value):
            return repr(value)
        case Items(items=items):
            return f"[{', '.join(as_python(each) for each in items)}]"
        case Entries(entries=entries):
            return f"{{{', '.join(f'{key!r}: {as_python(each)}' for key, each in entries)}}}"
        case Object(model=model, fields=fields):
            return f"{model}({keywords([each for each in fields if each[0].tag is None])})"


def keywords(fields: list[tuple[Field, Example]]) -> str:
    """Return the keyword arguments for fields."""
    return ", ".join(f"{field.name}={as_python(each)}" for field, each in fields)


def models_in(example: Example) -> Iterator[str]:
    """Yield the models that the expression for an example names."""
    match example:
        case Items(items=items):
            inner = items
        case Entries(entries=entries):
            inner = tuple(each for _, each in entries)
        case Object(model=model, fields=fields):
            yield model
            inner = tuple(each for _, each in fields)
        case _:
            return
    for each in inner:
        yield from models_in(each)
