"""Finds what a message has in places that the protocol restricts (rules 27 and 28).

The facts of a method become a tree of steps. A place remembers for each class of models which of its steps the class
has. A message without restricted places costs one lookup for each level at which it could have some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias
from weakref import WeakSet

from acp_runtime.models.absent import ABSENT
from acp_runtime.models.json_values import wire_name
from acp_runtime.models.model import Model
from acp_runtime.models.union_members import models_in
from acp_runtime.stubs.facts import PlaceFact

# The step of a union's member for unlisted tags.
_OTHER: Final = "*"
# The classes of missing values.
_MISSING: Final[set[type]] = {type(None), type(ABSENT)}
# The number of classes whose plans a place remembers. Connections share it, and a program may make many classes.
_MAX_PLANS = 1000


# The facts that a message violates, each with the first value that does.
Violations: TypeAlias = dict[PlaceFact, Any]
# What there is to check in the values of a class: the facts about them, and their fields that lead to other places.
_Plan: TypeAlias = tuple[list[PlaceFact], list[tuple[str, "Place"]]]


class Place:
    """A place, with the facts about it and the places inside of it, by their steps."""

    def __init__(self) -> None:
        self.facts: list[PlaceFact] = []
        self.inside: dict[str, Place] = {}
        # The models that fields with this place declare. A value of a subclass is sent as one of them.
        self._declared: WeakSet[type[Model]] = WeakSet()
        # The classes of values in which there is nothing to check.
        self.unrestricted: set[type] = {*_MISSING}
        self._plans: dict[type, _Plan] = {}

    def add(self, fact: PlaceFact) -> None:
        """Add a fact about a place inside of this one."""
        place = self
        for step in fact.place.split(".") if fact.place else ():
            place = place.inside.setdefault(step, Place())
        place.facts.append(fact)

    def find(self, value: Any, violations: Violations) -> None:
        """Add what a value in this place violates. Items of arrays and maps are in the place."""
        cls: type = value.__class__
        if cls is list or cls is dict:
            for item in value if cls is list else value.values():
                if item.__class__ not in self.unrestricted:
                    self.find(item, violations)
            return
        facts, fields = self._plans.get(cls) or self._add_plan(cls)
        for fact in facts:
            if fact not in violations and fact.is_violated_by(value):
                violations[fact] = value
        for attribute, place in fields:
            field = value.__dict__.get(attribute)
            if field.__class__ is list:
                for item in field:
                    if item.__class__ not in place.unrestricted:
                        place.find(item, violations)
            elif field.__class__ not in place.unrestricted:
                place.find(field, violations)
        if cls is str and value in self.inside:
            self.inside[value].find(value, violations)

    def fields_of(self, cls: type[Model]) -> Iterator[tuple[str, Place]]:
        """Yield the fields of a class that lead to places inside of this one, with these places."""
        for attribute, field in cls.__pydantic_fields__.items():
            if place := self.inside.get(wire_name(attribute)):
                place._declared.update(models_in(field.annotation))
                yield attribute, place

    def _add_plan(self, cls: type) -> _Plan:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
            self.unrestricted &= _MISSING
        plan = self._plans[cls] = self._make_plan(cls)
        if plan == ([], []) and not (cls is str and self.inside):
            self.unrestricted.add(cls)
        return plan

    def _make_plan(self, cls: type) -> _Plan:
        """Return the plan for a class that may have tags, each of which is a step."""
        if not issubclass(cls, Model):
            return self.facts, []
        declared: type[Any] = next((base for base in cls.__mro__ if base in self._declared), cls)
        facts, tags = [*self.facts], set[str](declared.__acp_tags__.values())
        place: Place = self
        while step := next((step for step in place.inside if step in tags), None):
            tags.remove(step)
            place = place.inside[step]
            facts += place.facts
        if tags:
            return facts, []
        if declared.__acp_is_open__ and _OTHER in place.inside:
            facts += place.inside[_OTHER].facts
        return facts, [*place.fields_of(declared)]


class MessagePlaces(Place):
    """The params or the result of a method.

    Args:
        facts: the facts about places in it.

    Attributes:
        only: the attribute of the field with all these places, once a message had it; empty if there are several.
        skipped: the classes of that field's values in which there is nothing to check. Callers look there first,
            because most updates of a session are in it.
    """

    def __init__(self, facts: Iterable[PlaceFact]) -> None:
        super().__init__()
        for fact in facts:
            self.add(fact)
        self.only: str = ""
        self.skipped: set[type] = set()

    def find_violations(self, message: Any) -> Violations:
        """Return what violates the facts. Without places inside, the message may be plain JSON, of an extension."""
        if not self.inside:
            return dict.fromkeys(self.facts, message)
        violations: Violations = {}
        self.find(message, violations)
        return violations

    def _make_plan(self, cls: type) -> _Plan:
        """Return the plan for a class. If it is a member of a union, its tag is behind the property with the tag."""
        if not issubclass(cls, Model):
            return self.facts, []
        facts, fields = [*self.facts], list[tuple[str, Place]]()
        for attribute, place in self.fields_of(cls):
            tag = cls.__acp_tags__.get(attribute, _OTHER if cls.__acp_is_open__ else None)
            if tag in place.inside:
                facts += place.inside[tag].facts
            else:
                fields.append((attribute, place))
        if len(self.inside) == len(fields) == 1 and not self.facts:
            ((self.only, place),) = fields
            self.skipped = place.unrestricted
        return facts, fields
