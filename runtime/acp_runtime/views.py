"""A field's schema as the wire sees it, and as a constructor sees it.

The markers of an annotation say both at once, in a schema that has a side for JSON and one for Python. A model is
parsed by the one and built by the other, so each gets its own: what is parsed is no longer asked for each field where
it comes from, and a constructor knows no wire names, no leniency, and no model but as an instance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pydantic_core import core_schema

from acp_runtime.json_values import as_object

Schema: TypeAlias = Any
Change: TypeAlias = Callable[[Schema], Schema]

_INSIDE = ("schema", "items_schema", "keys_schema", "values_schema")

# Classes of models by the names that core schemas refer to them with.
_CLASSES: dict[str, type] = {}


def remember(ref: str, cls: type) -> None:
    """Take note of how core schemas call a class."""
    _CLASSES[ref] = cls


def as_wire(schema: Schema) -> Schema:
    """What JSON has to be. Of a union by tag the other side is kept, for the instances in other people's models."""
    if schema["type"] != "json-or-python":
        return _within(schema, as_wire)
    wire = as_wire(schema["json_schema"])
    if wire["type"] == "tagged-union":
        return {**schema, "json_schema": wire}
    return {**wire, "serialization": schema["serialization"]} if "serialization" in schema else wire


def as_keyword(schema: Schema) -> Schema:
    """What the argument of a constructor has to be."""
    match schema["type"]:
        case "json-or-python":
            return as_keyword(schema["python_schema"])
        case "definition-ref":
            return core_schema.is_instance_schema(_CLASSES[schema["schema_ref"]])
        case "model":
            return core_schema.is_instance_schema(schema["cls"])
        case _:
            return _within(schema, as_keyword)


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
