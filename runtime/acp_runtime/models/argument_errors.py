"""Errors about the arguments of a constructor, in terms of the caller's code.

The schema of a constructor is made for speed: it only says that a value isn't an instance of the right class. This
module works out which class or argument the caller probably intended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from acp_runtime.models.absent import ABSENT, REQUIRED
from acp_runtime.models.hints import wrong_instance_message
from acp_runtime.models.validation_errors import OR_ABSENT, OR_VALUE, replace_errors


def explain_argument_errors(cls: type[BaseModel], error: ValidationError, given: dict[str, Any]) -> ValidationError:
    """Return the error of a constructor with each mistake reported once, and with what to write instead.

    Args:
        cls: the class whose constructor was called.
        error: pydantic's error.
        given: the arguments of the call.
    """
    errors = error.errors(include_url=False)
    intended = {name: _intended_field(cls, name, given) for name in given if name not in cls.__pydantic_fields__}
    misspelt = {(name,) for name in intended.values()}  # not reported as missing as well
    explained = [
        _explained(cls, each, intended)
        for each in errors
        if OR_ABSENT not in each["loc"][1:3] and (each["type"] != "missing" or each["loc"] not in misspelt)
    ]
    return replace_errors(error, explained) if explained and explained != errors else error


def _explained(cls: type[BaseModel], each: ErrorDetails, intended: dict[str, str]) -> ErrorDetails:
    """Return an error without the labels of alternatives in its path, and with what to write instead."""
    name, *rest = each["loc"] or ("",)
    labels = 0
    while rest[labels : labels + 1] == [OR_VALUE]:
        labels += 1
    each = cast("ErrorDetails", {**each, "loc": (name, *rest[labels:]) if each["loc"] else ()})
    match each["type"]:
        case "extra_forbidden" if name in intended:
            return _with_message(each, "unknown_argument", _unknown_argument(cls, str(name), intended[str(name)]))
        case _ if each["input"] is ABSENT:
            return _with_message(each, "absent", REQUIRED)
        case "is_instance_of":
            return _wrong_instance(each, cls.__pydantic_fields__.get(str(name)))
        case _:
            return each


def _wrong_instance(each: ErrorDetails, field: Any) -> ErrorDetails:
    names = each.get("ctx", {})["class"].split(" or ")
    classes = [model for model in _models_in(field and field.annotation) if model.__name__ in names]
    return _with_message(each, "wrong_model", wrong_instance_message(each["input"], classes)) if classes else each


def _intended_field(cls: type[BaseModel], name: str, given: dict[str, Any]) -> str:
    """Return the field that an unknown argument was probably meant for; empty if there is no such field."""
    from difflib import get_close_matches  # imported on use: only mistakes need it

    fields = {key: field for key, field in cls.__pydantic_fields__.items() if key not in given}
    by_alias = [key for key, field in fields.items() if field.alias == name]
    return next(iter(by_alias or get_close_matches(name, fields, n=1)), "")


def _unknown_argument(cls: type[BaseModel], name: str, intended: str) -> str:
    if not intended:
        return f"Unexpected argument: {cls.__name__} has no field `{name}`"
    if cls.__pydantic_fields__[intended].alias == name:
        return f"Unexpected argument: `{name}` is a JSON key, write `{intended}`"
    return f"Unexpected argument: did you mean `{intended}`?"


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _with_message(each: ErrorDetails, kind: str, message: str) -> ErrorDetails:
    return cast("ErrorDetails", {**each, "type": kind, "msg": message, "ctx": {}})
