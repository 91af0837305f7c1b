"""A field's schema as the wire sees it, and as a constructor sees it.

The markers of an annotation say both at once, in a schema that has a side for JSON and one for Python. A model is
parsed by the one and built by the other, so each gets its own: what is parsed is no longer asked for each field where
it comes from, and a constructor knows no wire names, no leniency, and no model but as an instance.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

from pydantic_core import PydanticSerializationError, core_schema

from acp_runtime.json_values import as_object

Schema: TypeAlias = Any
Change: TypeAlias = Callable[[Schema], Schema]

_INSIDE = ("schema", "items_schema", "keys_schema", "values_schema")

# pydantic's lists take sets and generators, too, if they take anything but lists.
_LIST_OR_TUPLE = core_schema.is_instance_schema((list, tuple), cls_repr="list")

_constructed: ContextVar[type | None] = ContextVar("acp_runtime.constructed", default=None)


@contextmanager
def instances_only(constructed: type) -> Generator[None]:
    """While this lasts, the schema of any model but the one that is constructed is that of an instance."""
    token = _constructed.set(constructed)
    try:
        yield
    finally:
        _constructed.reset(token)


def instance_schema(*classes: type) -> Schema | None:
    """The schema of an instance of one of these classes where that is all that counts; None elsewhere."""
    if not classes or _constructed.get() is None or is_constructed(*classes):
        return None
    return is_instance(*classes)


def is_constructed(*classes: type) -> bool:
    """Whether the schema of this class is wanted for its constructor."""
    return classes == (_constructed.get(),)


def is_instance(*classes: type) -> Schema:
    """The schema of an instance of one of these classes."""
    allowed: Any = classes[0] if len(classes) == 1 else classes
    return core_schema.is_instance_schema(allowed, cls_repr=_names(classes), serialization=dumps_itself(classes))


def dumps_itself(classes: tuple[type, ...]) -> core_schema.SerSchema:
    """How an instance of one of these classes is dumped: as it does itself. Anything else is an error."""

    def checked(value: Any) -> Any:
        if isinstance(value, classes):
            return value
        raise PydanticSerializationError(f"Expected an instance of {_names(classes)}, found {type(value).__name__}")

    return core_schema.plain_serializer_function_ser_schema(checked, return_schema=core_schema.any_schema())


def _names(classes: tuple[type, ...]) -> str:
    return " or ".join(cls.__name__ for cls in classes)


def as_wire(schema: Schema) -> Schema:
    """What JSON has to be. Of a union by tag the other side is kept, for the instances in other people's models."""
    if schema["type"] != "json-or-python":
        return _within(schema, as_wire)
    wire = as_wire(schema["json_schema"])
    if wire["type"] == "tagged-union":
        return {**schema, "json_schema": wire}
    return {**wire, "serialization": schema["serialization"]} if "serialization" in schema else wire


def as_keyword(schema: Schema) -> Schema:
    """What the argument of a constructor has to be. A tuple becomes a list."""
    if schema["type"] == "json-or-python":
        return as_keyword(schema["python_schema"])
    changed = _within(schema, as_keyword)
    if schema["type"] != "list":
        return changed
    changed["strict"] = False
    return core_schema.chain_schema([_LIST_OR_TUPLE, changed])


def _within(schema: Schema, change: Change) -> Schema:
    """A schema with what it is made of changed."""
    changed = {key: change(schema[key]) for key in _INSIDE if isinstance(schema.get(key), dict)}
    if schema["type"] in ("union", "tagged-union"):
        changed["choices"] = _choices(schema["choices"], change)
    elif schema["type"] == "chain":
        changed["steps"] = [change(step) for step in schema["steps"]]
    return {**schema, **changed}


def _choices(choices: Any, change: Change) -> Any:
    by_tag = as_object(choices)
    if by_tag is not None:
        return {tag: change(choice) for tag, choice in by_tag.items()}
    return [(change(each[0]), *each[1:]) if isinstance(each, tuple) else change(each) for each in choices]
