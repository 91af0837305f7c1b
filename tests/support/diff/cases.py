"""The cases that the report is tested with, and the small schemas that most of them are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from codegen.names import pascal
from tests.support.codegen.build import STRING, Schema, array, model, part_of, ref, request

# Where a change is: the definition, and the direction in which it is sent.
TARGETS = {
    "request": ("NewSessionRequest", "client->agent"),
    "result": ("NewSessionResponse", "agent->client"),
    "update": ("SessionNotification", "agent->client"),
    "alone": ("Alone", "none"),
}
INT: Schema = {"type": "integer", "format": "int32"}
UINT: Schema = {"type": "integer", "format": "uint32", "minimum": 0}
LONG: Schema = {"type": "integer", "format": "int64"}
MAYBE: Schema = {"type": ["string", "null"]}
LIST: Schema = array(STRING)
ON_ERROR = {"x-deserialize-default-on-error": True}
ON_NULL = {"x-deserialize-default-on-null": True}
SKIP = {"x-deserialize-skip-invalid-items": True}


@dataclass(frozen=True)
class Case:
    """One change.

    Attributes:
        name: the change in a few words.
        place: a key of `TARGETS`.
        old: the definition in the base.
        new: the definition in the head.
        rule: the expected finding's rule.
        letters: the expected verdicts, as in `rules.py`.
        old_json: a value that the base sends and that is most likely to be refused.
        new_json: such a value of the head.
        also: the rules of further findings.
        old_extra: other definitions of the base.
        new_extra: other definitions of the head.
    """

    name: str
    place: str
    old: Schema
    new: Schema
    rule: str
    letters: str
    old_json: Any = None
    new_json: Any = None
    also: tuple[str, ...] = ()
    old_extra: Schema = field(default_factory=dict[str, Any])
    new_extra: Schema = field(default_factory=dict[str, Any])

    @property
    def target(self) -> str:
        return TARGETS[self.place][0]

    @property
    def flow(self) -> str:
        return TARGETS[self.place][1]

    def definitions(self, side: str) -> Schema:
        own: Schema = self.old if side == "old" else self.new
        return around(self.place, own) | (self.old_extra if side == "old" else self.new_extra)


def around(place: str, definition: Schema) -> Schema:
    """Return a definition in its place, with the methods that carry it."""
    parts = {"request": model(), "result": model(), "update": model(), place: definition}
    result = {
        **request("session/new", "NewSession", parts["request"], parts["result"]),
        "SessionNotification": part_of("session/update", "client", parts["update"]),
    }
    return result | ({"Alone": definition} if place == "alone" else {})


def holds(definition: Schema, required: bool = True, **keywords: Any) -> Schema:
    """Return an object with the property `x`."""
    schema = {**definition, **keywords}
    return model(["x"], x=schema) if required else model(x=schema)


def may(definition: Schema, **keywords: Any) -> Schema:
    return holds(definition, required=False, **keywords)


def soft(definition: Schema) -> Schema:
    """Return an object in which an invalid `x` counts as missing."""
    return may(definition, **ON_ERROR)


def skipping(definition: Schema) -> Schema:
    """Return an object in which invalid items of `x` are skipped."""
    return holds(definition, **SKIP)


def case(
    name: str,
    rule: str,
    letters: str,
    types: tuple[Schema, Schema],
    values: tuple[Any, Any],
    place: str = "request",
    holder: Callable[[Schema], Schema] = holds,
    **more: Any,
) -> Case:
    """Return a case in which the property `x` has a type on each side, and each side sends one value."""
    old, new = ({"x": value} for value in values)
    return Case(name, place, *map(holder, types), rule, letters, old, new, **more)


KIND = holds(ref("Kind"))
BLOCK = holds(ref("Block"))


def kinds(old: Schema, new: Schema) -> dict[str, Any]:
    return {"old_extra": {"Kind": old}, "new_extra": {"Kind": new}}


def prefix(case: Case) -> str:
    """Return the prefix of a case's definitions, where all cases are in one schema."""
    return pascal(f"{case.name} {case.place}".replace("'", ""))


def prefixed(definitions: Any, start: str) -> Any:
    """Prefix the names of definitions, and remove their methods."""
    if isinstance(definitions, dict):
        kept = {key: value for key, value in definitions.items() if key not in ("x-side", "x-method")}
        return {
            key: value.replace("#/$defs/", f"#/$defs/{start}") if key == "$ref" else prefixed(value, start)
            for key, value in kept.items()
        }
    return [prefixed(definition, start) for definition in definitions] if isinstance(definitions, list) else definitions
