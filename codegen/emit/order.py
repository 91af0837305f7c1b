"""Orders definitions so that each comes after what it consists of.

A field whose type leads back to its own model is an exception: its annotation is written as a string, which pydantic
evaluates once all classes of the module exist. The reader refuses definitions that consist of themselves without a
field in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from codegen.errors import SchemaError
from codegen.ir import Model, Schema


def in_order(schema: Schema, names: Iterable[str]) -> list[str]:
    """Return definitions in their order, but each after those that it consists of."""
    wanted = dict.fromkeys(names)
    done: dict[str, None] = {}
    for name in wanted:
        _add(schema, name, wanted.keys(), done)
    return list(done)


def _add(schema: Schema, name: str, wanted: Set[str], done: dict[str, None]) -> None:
    if name in wanted and name not in done:
        for used in _used_before(schema, name):
            _add(schema, used, wanted, done)
        done[name] = None


def _used_before(schema: Schema, name: str) -> Iterator[str]:
    """Yield what has to be defined before a definition."""
    found = schema.definitions[name]
    if not isinstance(found, Model):
        yield from schema.uses(name)
        return
    yield from (found.base,) if found.base else ()
    recursive = recursive_fields(schema, name)
    yield from (used for field in found.fields if field.name not in recursive for used in field.type.names)


def recursive_fields(schema: Schema, name: str) -> list[str]:
    """Return the names of a model's own fields whose types lead back to the model.

    Raises:
        SchemaError: another field hides a name that their annotations need.
    """
    found = schema.definitions[name]
    fields = found.fields if isinstance(found, Model) else ()
    recursive = [field.name for field in fields if name in schema.reachable(field.type.names)]
    if recursive and any(field.name == "list" for field in fields):
        raise SchemaError(
            found.pointer, f"There is no rule for the property `list` of a definition that contains itself, {name}."
        )
    return recursive
