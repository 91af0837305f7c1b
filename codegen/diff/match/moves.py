"""Properties that moved into an object that is nested in theirs, or out of one: where each is now, or was.

A property has moved if one object lost it while another one, near the first, got it: under the same key and of the same
type. If there are several such objects, nobody can tell which of them it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.nesting import Nesting
from codegen.diff.compare.pointers import of_property
from codegen.diff.compare.shapes import Shape, shape_of
from codegen.diff.sources import Snapshot
from codegen.ir import Field, Model

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
    places = _places(comparison.new, comparison.new_nesting, new, field, lambda other: _shape(other) == wanted)
    return _only(each for each in places if not _has(comparison.old_nesting, comparison.backwards, each))


def moved_from(comparison: Comparison, old: Model, field: Field) -> Place | None:
    """Where the base had a property that this object of the base got."""
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
    """Whether the object of a place has the property on the other side, too."""
    return place.field.wire in nesting.fields.get(names.get(place.model.name, ""), {})


def _places(
    snapshot: Snapshot, nesting: Nesting, start: Model, field: Field, same: Callable[[Field], bool]
) -> Iterator[Place]:
    """Every place near an object that has this property."""
    if field.wire == _ANYWHERE or field.tag is not None:
        return
    for model, path in (*nesting.inside(start), *((each, each.name) for each in nesting.around(start))):
        other = nesting.fields[model.name].get(field.wire)
        if other is not None and other.tag is None and same(other):
            yield Place(_pointer(snapshot, model, field.wire), model, f"{path}.{field.wire}", other)


def _shape(field: Field) -> Shape:
    return shape_of(field.type.annotation).concrete()


def _pointer(snapshot: Snapshot, model: Model, wire: str) -> str:
    """The pointer of a property, in the object or in what that wraps."""
    owners = (model, *(snapshot.schema.model(base) for base in snapshot.schema.bases(model.name)))
    owner = next(each for each in owners if any(field.wire == wire for field in each.fields))
    return of_property(snapshot.raw, owner.pointer, wire)
