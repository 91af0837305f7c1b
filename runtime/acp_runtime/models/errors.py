"""Errors in terms of the caller's code: one for each mistake, with what to write in place of an unknown keyword.

Where a union's alternatives are tried in order, pydantic-core reports the errors of all. Their paths have labels, by
which `keep_intended` finds the errors of the alternative that the caller intended.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, TypeAlias, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from acp_runtime.models.union_members import alternatives, concrete_models, tag_of

Errors: TypeAlias = list[ErrorDetails]

_WRONG_MODEL = ("model_type", "model_attributes_type", "union_tag_not_found", "union_tag_invalid")


def label(name: str) -> str:
    """Return the label of an alternative."""
    return f"[as {name}]"


def tag_label(key: str) -> str:
    """Return the label of all alternatives that are told apart by a tag."""
    return f"[by {key}]"


def _path_to_label(error: ErrorDetails) -> tuple[int | str, ...] | None:
    """Return the path of an error up to its first label; None if it has no label."""
    steps = error["loc"]
    for index, step in enumerate(steps):
        if str(step).startswith(("[as ", "[by ")):
            return steps[:index]
    return None


def keep_intended(errors: Errors) -> Errors:
    """Return the errors of the intended alternatives, without labels in their paths."""
    kept: Errors = []
    for place, group in groupby(errors, _path_to_label):
        if place is None:
            kept += group
            continue
        at = len(place)
        tried: dict[int | str, Errors] = {}
        for error in group:
            tried.setdefault(error["loc"][at], []).append(error)
        kept += keep_intended(
            [{**error, "loc": (*place, *error["loc"][at + 1 :])} for error in _closest(tried, at + 1)]
        )
    return kept


def _closest(tried: dict[int | str, Errors], depth: int) -> Errors:
    """Return the errors of the alternative that fits best, or one error that lists what all of them expect."""
    inside = {name: errors for name, errors in tried.items() if any(len(error["loc"]) > depth for error in errors)}
    for name, errors in inside.items():
        if str(name).startswith("[by "):
            return errors
    if inside:
        return min(inside.values(), key=lambda group: (sum(error["type"] == "missing" for error in group), len(group)))
    return [_any_of([error for errors in tried.values() for error in errors])]


def _any_of(errors: Errors) -> ErrorDetails:
    first = errors[0]
    expected = dict.fromkeys(error["msg"].removeprefix("Input should be ") for error in errors)
    if any(error["type"] == first["type"] for error in errors[1:]):
        return first
    return {**first, "type": "union", "msg": f"Input should be {' or '.join(expected)}", "ctx": {}}


def explain_arguments(cls: type[BaseModel], error: ValidationError, given: dict[str, Any]) -> ValidationError:
    """Return the error of a constructor with advice: what to write instead of an unknown keyword or a wrong value.

    Args:
        cls: the class whose constructor was called.
        error: pydantic's error.
        given: the arguments of the call.
    """
    intended = {name: _intended_field(cls, name, given) for name in given if name not in cls.__pydantic_fields__}
    errors = [
        _explain(cls, fault, intended)
        for fault in keep_intended(error.errors(include_url=False))
        if fault["type"] != "missing" or not {*fault["loc"][:1]} & {*intended.values()}
    ]
    hide_input = cls.model_config.get("hide_input_in_errors", False)
    return ValidationError.from_exception_data(error.title, list(map(_details, errors)), hide_input=hide_input)


def _explain(cls: type[BaseModel], error: ErrorDetails, intended: dict[str, str]) -> ErrorDetails:
    name = str(error["loc"][0]) if error["loc"] else ""
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return {**error, "type": "unknown_argument", "msg": _unknown_argument(cls, name, intended[name])}
    if error["type"] == "list_type" and (example := _example_of_item(cls, error["loc"])):
        return {**error, "msg": f"Input should be a list, such as [{example}]"}
    models = [model for kind in _types_at(cls, error["loc"]) for model in concrete_models(kind)]
    given: type[Any] = type(cast("object", error["input"]))
    if error["type"] in _WRONG_MODEL and models and given is not dict:
        message = f"Input should be {_one_of(models, given)}"
        return {**error, "type": "wrong_model", "msg": message, "ctx": {}}
    if error["type"] == "union_tag_not_found":
        message = f"{error['msg']}: write the names of attributes, or parse decoded JSON with model_validate"
        return {**error, "type": "no_tag", "msg": message, "ctx": {}}
    return error


def _example_of_item(cls: type[BaseModel], path: tuple[int | str, ...]) -> str:
    """Return an example of an item in a list: a model of which only one text is required; empty if there is none."""
    for model in (model for kind in _types_at(cls, (*path, 0)) for model in concrete_models(kind)):
        fields = model.__pydantic_fields__.items()
        required = [(name, field.annotation) for name, field in fields if field.is_required() and tag_of(field) is None]
        if len(required) == 1 and required[0][1] is str:
            return f'{model.__name__}({required[0][0]}="...")'
    return ""


def _types_at(cls: type[BaseModel], path: tuple[int | str, ...]) -> list[Any]:
    """Return the types of a value inside of a model. The path has a step for each field, item and tag."""
    types: list[Any] = [cls]
    for step in path:
        tagged = [kind for kind in types if step in getattr(kind, "__acp_tags__", {}).values()]
        if tagged and len(tagged) < len(types):
            types = tagged
        else:
            types = [part for kind in types for part in alternatives(_type_inside(kind, step))]
    return types


def _type_inside(kind: Any, step: int | str) -> Any:
    fields: dict[Any, FieldInfo] = getattr(kind, "__pydantic_fields__", {})
    if step in fields:
        return fields[step].annotation
    arguments = get_args(kind)
    return arguments[-1] if arguments else None  # of `list[item]` and `dict[key, value]`


def _intended_field(cls: type[BaseModel], name: str, given: dict[str, Any]) -> str:
    """Return the field that an unknown argument was probably meant for; empty if there is no such field."""
    from difflib import get_close_matches  # imported on use: only mistakes need it

    fields = {key: field for key, field in cls.__pydantic_fields__.items() if key not in given}
    by_alias = [key for key, field in fields.items() if field.alias == name]
    return next(iter(by_alias or get_close_matches(name, fields)), "")


def _unknown_argument(cls: type[BaseModel], name: str, intended: str) -> str:
    if not intended:
        return f"Unexpected argument: {cls.__name__} has no field `{name}`"
    if cls.__pydantic_fields__[intended].alias == name:
        return f"Unexpected argument: `{name}` is a JSON key, write `{intended}`"
    return f"Unexpected argument: did you mean `{intended}`?"


def _one_of(models: list[type[BaseModel]], given: type[Any]) -> str:
    """Return the names of the expected classes as text; only those derived from the value's class, if there are any."""
    derived = [model for model in models if given in model.__mro__]
    *others, last = dict.fromkeys(model.__name__ for model in derived or models)
    is_namesake = given.__name__ in (*others, last)
    name = f"{given.__module__}.{given.__name__}" if is_namesake else given.__name__
    return f"{', '.join(others)} or {last}, not {name}" if others else f"{last}, not {name}"


def _details(error: ErrorDetails) -> InitErrorDetails:
    kind = PydanticCustomError(cast("Any", error["type"]), cast("Any", error["msg"]), error.get("ctx"))
    return {"type": kind, "loc": error["loc"], "input": error["input"]}
