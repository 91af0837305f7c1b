"""Types as user code writes them, and examples of their values."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.diff.match.shapes import Shape, shape_of
from codegen.errors import SourceError
from codegen.ir import Alias, Field, Schema

# The first is a valid path and no tag that a schema has. The others are for patterns that it doesn't match.
_TEXTS = ("/example", "USD")
_TEXT = f'"{_TEXTS[0]}"'
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "any": "Any", "null": "None"}
_EXAMPLES = {"boolean": "True", "any": _TEXT, "null": "None"}
_CONTAINERS = {"list": "[%s]", "map": '{"key": %s}', "union": "%s"}
VERSION = "ACP.PROTOCOL_VERSION"


class Examples:
    """The types of one schema, as code that imports its profile as `ACP` writes them.

    Aliases of plain scalars, such as `SessionId`, are written as `str` or `int`, as most code does.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of_field(self, field: Field) -> str:
        """Return an expression for the value of a field; other definitions' values are `given("Name")`."""
        if field.wire == self._schema.properties.get("version"):
            return VERSION
        return self.of_type(shape_of(field.type.annotation))

    def of_type(self, shape: Shape) -> str:
        """Return an expression for a value of a type, likewise."""
        shape = self.written(shape).concrete()
        parts = [self.of_type(part) for part in shape.parts[:1]]
        match shape.kind:
            case "ref":
                return f'given("{shape.name}")'
            case "literal":
                return repr(shape.values[0])
            case "string":
                return _text(shape.limit("pattern") or "")
            case "integer" | "number":
                return str(max(1, shape.limit("minimum") or 0))
            case "list" | "map" | "union" as kind:
                return _CONTAINERS[kind] % tuple(parts)
            case kind:
                return _EXAMPLES[kind]

    def is_nullable(self, field: Field) -> bool:
        """Return whether null is a value of a field that has others, too."""
        return field.type.nullable and self.written(shape_of(field.type.annotation)).kind == "union"

    def annotation(self, shape: Shape) -> str:
        """Return the annotation of a type."""
        shape = self.written(shape)
        match shape.kind:
            case "ref":
                return f"ACP.{shape.name}"
            case "literal":
                return f"Literal[{', '.join(map(repr, shape.values))}]"
            case "list":
                return f"list[{self.annotation(shape.parts[0])}]"
            case "map":
                return f"dict[str, {self.annotation(shape.parts[0])}]"
            case "union":
                return " | ".join(dict.fromkeys(self.annotation(part) for part in shape.parts))
            case kind:
                return _SCALARS[kind]

    def written(self, shape: Shape) -> Shape:
        """Return the type that an alias of a plain scalar stands for, and any other type unchanged."""
        found = self._schema.definitions[shape.name] if shape.kind == "ref" else None
        if not isinstance(found, Alias):
            return shape
        inner = self.written(shape_of(found.type.annotation))
        return inner if inner.kind in _SCALARS else shape


def _text(pattern: str) -> str:
    """Return a text that matches a pattern.

    Raises:
        SourceError: no example does.
    """
    for text in _TEXTS:
        if re.search(pattern, text):
            return f'"{text}"'
    raise SourceError(f"There is no example of a text for the pattern {pattern}. Add one to {Path(__file__).name}.")
