"""The params of a call: built from the keywords of a proxy's method, or a model that the caller has built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from acp_runtime.models.absent import ABSENT
from acp_runtime.models.union_members import as_declared, concrete_models, tags_of
from acp_runtime.stubs.methods import AnyMethod


def build_params(method: AnyMethod, keywords: dict[str, Any]) -> Any:
    """Build the params of a call. If they are a union, build the member with these keywords.

    A keyword may be any sequence or mapping. Constructors only take lists, tuples and dicts, so they get copies if the
    first attempt fails.

    Raises:
        ValidationError: if the keywords are invalid. It is the error of the intended member of a union.
    """
    given = {name: value for name, value in keywords.items() if value is not ABSENT}
    try:
        return _build(method, given)
    except ValidationError:
        copied = {name: _as_lists_and_dicts(value) for name, value in given.items()}
    return _build(method, copied)


def find_method(params: BaseModel, methods: Mapping[str, Any]) -> tuple[Any, BaseModel]:
    """Return the method that params belong to, and the params as an instance of the class that the method declares.

    Raises:
        TypeError: if they are the params of none of these methods.
    """
    for cls in type(params).__mro__:
        for method in methods.values():
            if cls in _models(method):
                return method, as_declared(params, (cls,))
    raise TypeError(f"{type(params).__name__} is not the params of any method you can call on this peer")


@cache
def _models(method: AnyMethod) -> list[type[BaseModel]]:
    """Return the model classes of a method's params."""
    return concrete_models(method.params_type)


def _build(method: AnyMethod, keywords: dict[str, Any]) -> Any:
    failed: dict[type[BaseModel], ValidationError] = {}
    for model in _models(method):
        try:
            return model(**keywords)
        except ValidationError as error:
            failed[model] = error
    # The error of the member that the keywords fit best.
    raise min(failed.items(), key=lambda failure: (*_misfit(failure[0], keywords), failure[1].error_count()))[1]


def _misfit(model: type[BaseModel], keywords: dict[str, Any]) -> tuple[bool, int]:
    """Return whether a keyword has the tag of another member, and the number of keywords that aren't fields."""
    has_other_tag = any(keywords.get(name, tag) != tag for name, tag in tags_of(model).items())
    return has_other_tag, len(keywords.keys() - model.model_fields.keys())


def _as_lists_and_dicts(value: Any) -> Any:
    """Copy sequences as lists and mappings as dicts, at any depth."""
    kind = value.__class__
    if issubclass(kind, Mapping):
        return {key: _as_lists_and_dicts(item) for key, item in value.items()}
    if issubclass(kind, Sequence) and not issubclass(kind, (str, bytes, bytearray, memoryview)):
        return [_as_lists_and_dicts(item) for item in value]
    return value
