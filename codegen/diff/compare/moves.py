"""Find where a property moved, into an object nested in its own or out of one.

A property moved if one object lost it while exactly one nested or surrounding object gained it, under the same key and
with the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.nesting import Nesting
from codegen.diff.compare.pointers import property_pointer
from codegen.diff.match.shapes import Shape, shape_of
from codegen.diff.sources import Snapshot
from codegen.ir import Field, Model

# Every object has this property, so it never counts as moved.
_META = "_meta"


@dataclass(frozen=True)
class Place:
    """The place of a property on one side.

    Attributes:
        pointer: its JSON pointer.
        model: the object that has it.
        path: its path in JSON names: `options.cwd` in a nested object, `NewSessionRequest.cwd` in a surrounding one.
        field: the property.
    """

    pointer: str
    model: Model
    path: str
    field: Field


def moved_to(comparison: Comparison, new: Model, field: Field) -> Place | None:
    """Return the place in the head of a property that this object lost; None if it didn't move."""
    wanted = _shape(field).renamed(comparison.names)
    places = _places(comparison.new, comparison.new_nesting, new, field, lambda other: _shape(other) == wanted)
    return _only(each for each in places if not _has(comparison.old_nesting, comparison.old_names, each))


def moved_from(comparison: Comparison, old: Model, field: Field) -> Place | None:
    """Return the place in the base of a property that this object gained; None if it didn't move."""
    wanted, names = _shape(field), comparison.names
    places = _places(
        comparison.old, comparison.old_nesting, old, field, lambda other: _shape(other).renamed(names) == wanted
    )
    return _only(each for each in places if not _has(comparison.new_nesting, names, each))


def _only(places: Iterator[Place]) -> Place | None:
    found: dict[str, Place] = {}
    for each in places:
        found.setdefault(each.pointer, each)
    return next(iter(found.values())) if len(found) == 1 else None


def _has(nesting: Nesting, names: dict[str, str], place: Place) -> bool:
    """Return whether the object of a place has the property on the other side too."""
    return place.field.wire in nesting.fields.get(names.get(place.model.name, ""), {})


def _places(
    snapshot: Snapshot, nesting: Nesting, start: Model, field: Field, same: Callable[[Field], bool]
) -> Iterator[Place]:
    """Yield the nested and surrounding objects that have this property."""
    if field.wire == _META or field.tag is not None:
        return
    for model, path in (*nesting.inside(start), *((each, each.name) for each in nesting.around(start))):
        other = nesting.fields[model.name].get(field.wire)
        if other is not None and other.tag is None and same(other):
            yield Place(_pointer(snapshot, model, field.wire), model, f"{path}.{field.wire}", other)


def _shape(field: Field) -> Shape:
    return shape_of(field.type.annotation).concrete()


def _pointer(snapshot: Snapshot, model: Model, wire: str) -> str:
    """Return the pointer of a property, which may belong to a base class of the object."""
    owners = (model, *(snapshot.schema.model(base) for base in snapshot.schema.bases(model.name)))
    owner = next(each for each in owners if any(field.wire == wire for field in each.fields))
    return property_pointer(snapshot.raw, owner.pointer, wire)
