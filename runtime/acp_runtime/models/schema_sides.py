"""The two sides of a field's schema: for JSON and for the constructor.

The markers of an annotation make a schema with one side for JSON and one for Python. Models are parsed by the first
and built by the second, so each validator gets a schema of its own side only. Parsing skips the per-field choice
between the sides; constructors have no JSON keys, no leniency, and take models only as instances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pydantic_core import core_schema

from acp_runtime.models.json_values import as_object
from acp_runtime.models.pydantic_internals import Schema
from acp_runtime.models.words import one_of

Change: TypeAlias = Callable[[Schema], Schema]

_INSIDE = ("schema", "items_schema", "keys_schema", "values_schema")

# A list that isn't strict would also take sets and generators.
_LIST_OR_TUPLE = core_schema.custom_error_schema(
    core_schema.is_instance_schema((list, tuple)), custom_error_type="list_type"
)

# How error messages describe the types of a union.
_DESCRIPTIONS = {
    "bool": "a boolean",
    "dict": "an object",
    "float": "a number",
    "int": "an integer",
    "list": "a list",
    "none": "null",
    "str": "a string",
}


def json_side(schema: Schema) -> Schema:
    """Return the schema for JSON, decoded or not. Unions of models keep both sides: one also takes instances."""
    if schema["type"] != "json-or-python":
        return _changed_inside(schema, json_side)
    wire = json_side(schema["json_schema"])
    if schema["python_schema"]["type"] == "function-wrap":
        return {**schema, "json_schema": wire, "python_schema": {**schema["python_schema"], "schema": wire}}
    return _with_serializer_of(schema, wire)


def constructor_side(schema: Schema) -> Schema:
    """Return the schema for the argument of a constructor. It turns a tuple into a list."""
    if schema["type"] == "json-or-python":
        return _with_serializer_of(schema, constructor_side(schema["python_schema"]))
    changed = _changed_inside(schema, constructor_side)
    if schema["type"] != "list":
        return changed
    changed["strict"] = False
    return core_schema.chain_schema([_LIST_OR_TUPLE, changed])


def _with_serializer_of(schema: Schema, changed: Schema) -> Schema:
    return {**changed, "serialization": schema["serialization"]} if "serialization" in schema else changed


def _changed_inside(schema: Schema, change: Change) -> Schema:
    """Return a schema with a change applied to the schemas inside it."""
    changed = {key: change(schema[key]) for key in _INSIDE if isinstance(schema.get(key), dict)}
    if schema["type"] in ("union", "tagged-union"):
        changed["choices"] = _choices(schema["choices"], change)
        changed |= _single_error(changed["choices"]) if _reports_each_choice(schema) else {}
    elif schema["type"] == "chain":
        changed["steps"] = [change(step) for step in schema["steps"]]
    return {**schema, **changed}


def _choices(choices: Any, change: Change) -> Any:
    by_tag = as_object(choices)
    if by_tag is not None:
        return {tag: change(choice) for tag, choice in by_tag.items()}
    return [(change(each[0]), *each[1:]) if isinstance(each, tuple) else change(each) for each in choices]


def _reports_each_choice(union: Schema) -> bool:
    return union["type"] == "union" and "custom_error_type" not in union


def _single_error(choices: list[Any]) -> dict[str, str]:
    """Return the options for a single error of a union of scalars. By default, pydantic-core reports one per member."""
    descriptions = [_description(each) for each in choices if not isinstance(each, tuple)]
    if not descriptions or None in descriptions or len(descriptions) != len(choices):
        return {}
    expected = [each for each in descriptions if each]
    return {"custom_error_type": "union", "custom_error_message": f"Input should be {one_of(expected)}"}


def _description(schema: Schema) -> str | None:
    """Return how an error message describes a schema; None if the schema's own error says more."""
    match schema["type"]:
        case "chain":
            return _description(schema["steps"][-1])
        case "json-or-python":
            return _description(schema["python_schema"])
        case "union":
            return schema.get("custom_error_message", "").removeprefix("Input should be ") or None
        case "literal":
            return one_of([repr(value) for value in schema["expected"]])
        case kind:
            return _DESCRIPTIONS.get(kind)
