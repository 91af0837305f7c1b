"""Lists the methods and types in which one profile differs from another, by name.

`codegen.diff` judges the differences between two releases of one profile. Profiles differ on purpose, so here they are
only listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.ir import Definition, Method, Model, Schema, Union


@dataclass(frozen=True)
class Changed:
    """A type or a method that both profiles have, and how it differs: sentences' parts."""

    name: str
    how: tuple[str, ...]


@dataclass(frozen=True)
class Differences:
    """What a profile has in comparison with another one, each in its own order."""

    new_methods: list[Method]
    missing_methods: list[Method]
    changed_methods: list[Changed]
    new_types: list[str]
    missing_types: list[str]
    changed_types: list[Changed]


def differences(base: Schema, head: Schema) -> Differences:
    """Compare a profile with the one that it is explained by."""
    old, new = _methods(base), _methods(head)
    old_types, new_types = _public(base), _public(head)
    methods = [Changed(each.wire, tuple(_of_method(old[key], each))) for key, each in new.items() if key in old]
    types = [
        Changed(name, tuple(_of_definition(base, head, old_types[name], each)))
        for name, each in new_types.items()
        if name in old_types
    ]
    return Differences(
        new_methods=[each for key, each in new.items() if key not in old],
        missing_methods=[each for key, each in old.items() if key not in new],
        changed_methods=[each for each in methods if each.how],
        new_types=sorted(new_types.keys() - old_types.keys()),
        missing_types=sorted(old_types.keys() - new_types.keys()),
        changed_types=[each for each in types if each.how],
    )


def _methods(schema: Schema) -> dict[tuple[str, str, bool], Method]:
    return {(each.wire, each.side, each.result is None): each for each in schema.methods}


def _public(schema: Schema) -> dict[str, Definition]:
    return {name: each for name, each in schema.definitions.items() if name not in schema.envelopes}


def _of_method(old: Method, new: Method) -> Iterator[str]:
    if old.params != new.params:
        yield f"its params are `{new.params}`, not `{old.params}`"
    if old.result != new.result:
        yield f"its result is `{new.result}`, not `{old.result}`"
    if old.capability != new.capability:
        yield f"it needs `{new.capability}`" if new.capability else f"it does not need `{old.capability}`"


def _of_definition(base: Schema, head: Schema, old: Definition, new: Definition) -> Iterator[str]:
    if isinstance(old, Model) and isinstance(new, Model):
        yield from _of_model(base, head, new.name)
    elif isinstance(old, Union) and isinstance(new, Union):
        yield from _named("members", [each.name for each in old.members], [each.name for each in new.members])
    elif isinstance(old, (Model, Union)) or isinstance(new, (Model, Union)):
        yield "another kind of type"
    elif old.type.annotation != new.type.annotation:
        yield "other values"


def _of_model(base: Schema, head: Schema, name: str) -> Iterator[str]:
    old, new = ({each.wire: each for each in schema.fields(name)} for schema in (base, head))
    yield from _named("fields", list(old), list(new))
    other = [key for key in new if key in old and new[key].type.annotation != old[key].type.annotation]
    if other:
        yield f"another type: {_listed(other)}"
    presence = [key for key in new if key in old and new[key].required != old[key].required]
    for key in presence:
        yield f"`{key}` is {'required' if new[key].required else 'optional'}"


def _named(what: str, old: list[str], new: list[str]) -> Iterator[str]:
    added, removed = [each for each in new if each not in old], [each for each in old if each not in new]
    if added:
        yield f"new {what}: {_listed(added)}"
    if removed:
        yield f"without {_listed(removed)}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)
