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

from pydantic_core import core_schema

from acp_runtime.models.dumping import unfiltered_declared_serializer
from acp_runtime.models.json_values import as_object
from acp_runtime.models.words import one_of

Schema: TypeAlias = Any
Change: TypeAlias = Callable[[Schema], Schema]

_INSIDE = ("schema", "items_schema", "keys_schema", "values_schema")

# pydantic's lists take sets and generators, too, if they take anything but lists.
_LIST_OR_TUPLE = core_schema.custom_error_schema(
    core_schema.is_instance_schema((list, tuple)), custom_error_type="list_type"
)

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
    names = " or ".join(cls.__name__ for cls in classes)
    return core_schema.is_instance_schema(
        allowed, cls_repr=names, serialization=unfiltered_declared_serializer(*classes)
    )


# What a choice of a union wants, in words.
_WANTED = {
    "bool": "a boolean",
    "dict": "an object",
    "float": "a number",
    "int": "an integer",
    "list": "a list",
    "none": "null",
    "str": "a string",
}


def json_side(schema: Schema) -> Schema:
    """What JSON has to be, decoded or not. Of a union of models both sides are kept: one takes instances, too."""
    if schema["type"] != "json-or-python":
        return _within(schema, json_side)
    wire = json_side(schema["json_schema"])
    if schema["python_schema"]["type"] == "function-wrap":
        return {**schema, "json_schema": wire, "python_schema": {**schema["python_schema"], "schema": wire}}
    return _dumped_like(schema, wire)


def constructor_side(schema: Schema) -> Schema:
    """What the argument of a constructor has to be. A tuple becomes a list."""
    if schema["type"] == "json-or-python":
        return _dumped_like(schema, constructor_side(schema["python_schema"]))
    changed = _within(schema, constructor_side)
    if schema["type"] != "list":
        return changed
    changed["strict"] = False
    return core_schema.chain_schema([_LIST_OR_TUPLE, changed])


def _dumped_like(schema: Schema, changed: Schema) -> Schema:
    return {**changed, "serialization": schema["serialization"]} if "serialization" in schema else changed


def _within(schema: Schema, change: Change) -> Schema:
    """A schema with what it is made of changed."""
    changed = {key: change(schema[key]) for key in _INSIDE if isinstance(schema.get(key), dict)}
    if schema["type"] in ("union", "tagged-union"):
        changed["choices"] = _choices(schema["choices"], change)
        changed |= _single_error(changed["choices"]) if _has_an_error_of_each(schema) else {}
    elif schema["type"] == "chain":
        changed["steps"] = [change(step) for step in schema["steps"]]
    return {**schema, **changed}


def _choices(choices: Any, change: Change) -> Any:
    by_tag = as_object(choices)
    if by_tag is not None:
        return {tag: change(choice) for tag, choice in by_tag.items()}
    return [(change(each[0]), *each[1:]) if isinstance(each, tuple) else change(each) for each in choices]


def _has_an_error_of_each(union: Schema) -> bool:
    return union["type"] == "union" and "custom_error_type" not in union


def _single_error(choices: list[Any]) -> dict[str, str]:
    """One error for a union of scalars, which pydantic-core makes one of each member of."""
    wanted = [_wanted(each) for each in choices if not isinstance(each, tuple)]
    if not wanted or None in wanted or len(wanted) != len(choices):
        return {}
    said = [words for words in wanted if words]
    return {"custom_error_type": "union", "custom_error_message": f"Input should be {one_of(said)}"}


def _wanted(schema: Schema) -> str | None:
    """What a schema wants, in words; None for one that its own error says more of."""
    match schema["type"]:
        case "chain":
            return _wanted(schema["steps"][-1])
        case "json-or-python":
            return _wanted(schema["python_schema"])
        case "union":
            return schema.get("custom_error_message", "").removeprefix("Input should be ") or None
        case "literal":
            return one_of([repr(value) for value in schema["expected"]])
        case kind:
            return _WANTED.get(kind)
