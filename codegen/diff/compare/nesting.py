"""Find the objects nested in an object, and the objects that it is nested in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from codegen.diff.match.renames import all_fields
from codegen.diff.match.shapes import Shape, shape_of
from codegen.ir import Alias, Field, Model, Schema

# The search stops after this many levels.
_DEPTH = 3


class Nesting:
    """The objects of a schema, each with the objects that its properties hold."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.models = {name: each for name, each in schema.definitions.items() if isinstance(each, Model)}

    @cached_property
    def fields(self) -> dict[str, dict[str, Field]]:
        """The properties of every object, inherited ones included."""
        return {name: all_fields(self._schema, model) for name, model in self.models.items()}

    @cached_property
    def _held(self) -> dict[str, list[tuple[str, Model]]]:
        """The objects that each object holds, with the name of the property."""
        return {
            name: [(wire, inner) for wire, each in fields.items() for inner in self._in(shape_of(each.type.annotation))]
            for name, fields in self.fields.items()
        }

    def _in(self, shape: Shape) -> Iterator[Model]:
        for name in shape.names():
            definition = self._schema.definitions[name]
            if isinstance(definition, Alias):
                yield from self._in(shape_of(definition.type.annotation))
            else:
                yield from self._schema.concrete_models(name)

    def inside(self, start: Model) -> Iterator[tuple[Model, str]]:
        """Yield the objects nested in an object, each with the shortest path to it."""
        seen, level = {start.name}, [(start, "")]
        for _ in range(_DEPTH):
            paths = [
                (inner, f"{path}.{wire}".lstrip("."))
                for model, path in level
                for wire, inner in self._held[model.name]
                if inner.name not in seen
            ]
            seen |= {model.name for model, _ in paths}
            level = paths
            yield from level

    def around(self, start: Model) -> Iterator[Model]:
        """Yield the objects that an object, or a class derived from it, is nested in."""
        level = {name for name in self.models if start.name in (name, *self._schema.bases(name))}
        seen = set(level)
        for _ in range(_DEPTH):
            level = {
                name
                for name, held in self._held.items()
                if name not in seen and any(inner.name in level for _, inner in held)
            }
            seen |= level
            yield from (model for name, model in self.models.items() if name in level)
