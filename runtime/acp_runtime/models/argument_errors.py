"""What is wrong with the arguments of a constructor, in the words of its caller.

A constructor is quick because it looks at each argument once and says no more than that it isn't what it wants. What it
should have been is worked out here.
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
    """What a constructor of a class says of the arguments that it was given, each mistake once."""
    errors = error.errors(include_url=False)
    meant = {name: _meant(cls, name, given) for name in given if name not in cls.__pydantic_fields__}
    missing = {(name,) for name in meant.values()}
    found = [
        _restated(cls, each, meant)
        for each in errors
        if OR_ABSENT not in each["loc"][1:3] and (each["type"] != "missing" or each["loc"] not in missing)
    ]
    return replace_errors(error, found) if found and found != errors else error


def _restated(cls: type[BaseModel], each: ErrorDetails, meant: dict[str, str]) -> ErrorDetails:
    """An error without the labels of what was tried, and with what to write instead."""
    name, *rest = each["loc"] or ("",)
    labels = 0
    while rest[labels : labels + 1] == [OR_VALUE]:
        labels += 1
    each = cast("ErrorDetails", {**each, "loc": (name, *rest[labels:]) if each["loc"] else ()})
    if each["input"] is ABSENT:
        return _saying(each, "absent", REQUIRED)
    match each["type"]:
        case "extra_forbidden" if name in meant:
            return _saying(each, "unknown_argument", _unknown(cls, meant[str(name)]))
        case "is_instance_of":
            return _no_instance(each, cls.__pydantic_fields__.get(str(name)))
        case _:
            return each


def _no_instance(each: ErrorDetails, field: Any) -> ErrorDetails:
    names = each.get("ctx", {})["class"].split(" or ")
    classes = [model for model in _models_in(field and field.annotation) if model.__name__ in names]
    return _saying(each, "wrong_model", wrong_instance_message(each["input"], classes)) if classes else each


def _meant(cls: type[BaseModel], name: str, given: dict[str, Any]) -> str:
    """The field that an argument was meant for; empty if it isn't clear."""
    from difflib import get_close_matches  # only here: it is needed for mistakes alone

    fields = {key: field for key, field in cls.__pydantic_fields__.items() if key not in given}
    by_alias = [key for key, field in fields.items() if field.alias == name]
    return next(iter(by_alias or get_close_matches(name, fields, n=1)), "")


def _unknown(cls: type[BaseModel], meant: str) -> str:
    return f"Unexpected argument: {f'write `{meant}`' if meant else f'{cls.__name__} has no such field'}"


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _saying(each: ErrorDetails, kind: str, message: str) -> ErrorDetails:
    return cast("ErrorDetails", {**each, "type": kind, "msg": message, "ctx": {}})
