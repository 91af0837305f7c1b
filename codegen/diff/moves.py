"""Properties that moved into an object that is nested in theirs, or out of one: where each is now, or was.

A property has moved if one object lost it while another one, near the first, got it: under the same key and of the same
type. If there are several such objects, nobody can tell which of them it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.diff.comparison import Comparison
from codegen.diff.matching import effective
from codegen.diff.pointers import of_property
from codegen.diff.shapes import Shape, shape_of
from codegen.diff.sources import Snapshot
from codegen.ir import Alias, Field, Model, Schema

# Properties deeper inside than this are not looked for.
_DEPTH = 3
# Every object has it, so it says nothing.
_ANYWHERE = "_meta"


@dataclass(frozen=True)
class Place:
    """Where a property stands on one side.

    Attributes:
        pointer: its JSON pointer.
        model: the object that has it.
        path: how one gets there in words of the wire: `options.cwd` inside, `NewSessionRequest.cwd` outside.
        field: the property.
    """

    pointer: str
    model: Model
    path: str
    field: Field


def moved_to(comparison: Comparison, new: Model, field: Field) -> Place | None:
    """Where the head has a property that this object of the head lost."""
    wanted = _shape(field).renamed(comparison.names)
    places = _places(comparison.new, new, field, lambda other: _shape(other) == wanted)
    return _only(each for each in places if not _has(comparison.old.schema, comparison.backwards, each))


def moved_from(comparison: Comparison, old: Model, field: Field) -> Place | None:
    """Where the base had a property that this object of the base got."""
    wanted = _shape(field)
    places = _places(comparison.old, old, field, lambda other: _shape(other).renamed(comparison.names) == wanted)
    return _only(each for each in places if not _has(comparison.new.schema, comparison.names, each))


def _only(places: Iterator[Place]) -> Place | None:
    found = {each.pointer: each for each in places}
    return next(iter(found.values())) if len(found) == 1 else None


def _has(schema: Schema, names: dict[str, str], place: Place) -> bool:
    """Whether the object of a place has the property on the other side, too."""
    counterpart = schema.definitions.get(names.get(place.model.name, ""))
    return isinstance(counterpart, Model) and place.field.wire in effective(schema, counterpart)


def _places(snapshot: Snapshot, start: Model, field: Field, same: Callable[[Field], bool]) -> Iterator[Place]:
    """Every place near an object that has this property."""
    if field.wire == _ANYWHERE or field.tag is not None:
        return
    schema = snapshot.schema
    for model, path in (*_inside(schema, start), *_around(schema, start)):
        other = effective(schema, model).get(field.wire)
        if other is not None and other.tag is None and same(other):
            yield Place(_pointer(snapshot, model, field.wire), model, f"{path}.{field.wire}", other)


def _shape(field: Field) -> Shape:
    return shape_of(field.type.annotation).concrete()


def _pointer(snapshot: Snapshot, model: Model, wire: str) -> str:
    """The pointer of a property, in the object or in what that wraps."""
    owners = (model, *(snapshot.schema.model(base) for base in snapshot.schema.bases(model.name)))
    owner = next(each for each in owners if any(field.wire == wire for field in each.fields))
    return of_property(snapshot.raw, owner.pointer, wire)


def _inside(schema: Schema, start: Model) -> Iterator[tuple[Model, str]]:
    """The objects nested in an object, each by the shortest way."""
    seen, level = {start.name}, [(start, "")]
    for _ in range(_DEPTH):
        ways = [
            (inner, f"{path}.{wire}".lstrip("."))
            for model, path in level
            for wire, field in effective(schema, model).items()
            for inner in _models(schema, _shape(field))
        ]
        level = [(model, path) for model, path in ways if model.name not in seen]
        seen |= {model.name for model, _ in level}
        yield from level


def _around(schema: Schema, start: Model) -> Iterator[tuple[Model, str]]:
    """The objects that an object, or one that wraps it, is nested in."""
    models = [each for each in schema.definitions.values() if isinstance(each, Model)]
    level = {each.name for each in models if start.name in (each.name, *schema.bases(each.name))}
    seen = set(level)
    for _ in range(_DEPTH):
        outer = [each for each in models if each.name not in seen and level & _held(schema, each)]
        level = {each.name for each in outer}
        seen |= level
        yield from ((each, each.name) for each in outer)


def _held(schema: Schema, model: Model) -> set[str]:
    """The objects that the properties of an object hold."""
    return {inner.name for each in effective(schema, model).values() for inner in _models(schema, _shape(each))}


def _models(schema: Schema, shape: Shape) -> Iterator[Model]:
    """The objects that a type holds."""
    for name in shape.names():
        definition = schema.definitions[name]
        if isinstance(definition, Alias):
            yield from _models(schema, shape_of(definition.type.annotation))
        else:
            yield from schema.leaves(name)
