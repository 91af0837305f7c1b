"""Writes the JSON of examples."""

from __future__ import annotations

import json
from typing import Any

from codegen.nodes import is_array, is_object

_WIDTH = 72


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
