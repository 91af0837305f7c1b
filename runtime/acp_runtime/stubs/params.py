"""The params of a call: built from the keywords of a proxy's method, or a model that the caller has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import is_
from typing import Any

from pydantic import BaseModel, ValidationError

from acp_runtime.models.absent import ABSENT
from acp_runtime.models.constructors import tag_of
from acp_runtime.models.dumping import AsDeclared
from acp_runtime.models.union_members import concrete_models
from acp_runtime.models.validation_errors import merge_errors
from acp_runtime.stubs.methods import AnyMethod


def build_params(method: AnyMethod, keywords: dict[str, Any]) -> Any:
    """The params of a call. Of a union, the member that the keywords are the fields of.

    Constructors take lists and tuples, and a caller may pass any sequence: the others are copied once they are refused.

    Raises:
        ValidationError: if they are not valid. It is the error of the member that was meant.
    """
    given = {name: value for name, value in keywords.items() if value is not ABSENT}
    try:
        return _built(method, given)
    except ValidationError:
        copied = {name: _plain(value) for name, value in given.items()}
        if all(copied[name] is value for name, value in given.items()):
            raise
    return _built(method, copied)


def ready_made(params: BaseModel, methods: Mapping[str, Any]) -> tuple[Any, BaseModel]:
    """The method that params belong to, and these as the class that the method declares.

    Raises:
        TypeError: if they are not the params of any of these methods.
    """
    for cls in type(params).__mro__:
        for method in methods.values():
            if cls in _leaves(method):
                return method, AsDeclared((cls,))(params)
    raise TypeError(f"{type(params).__name__} is not the params of any method you can call on this peer")


@cache
def _leaves(method: AnyMethod) -> list[type[BaseModel]]:
    """The models that a method's params can be."""
    return concrete_models(getattr(method.profile.models, method.params))


def _built(method: AnyMethod, keywords: dict[str, Any]) -> Any:
    failed: dict[type[BaseModel], ValidationError] = {}
    for leaf in _leaves(method):
        try:
            return leaf(**keywords)
        except ValidationError as error:
            failed[leaf] = error
    raise _of_the_meant_member(method, keywords, failed)


def _of_the_meant_member(
    method: AnyMethod, keywords: dict[str, Any], failed: dict[type[BaseModel], ValidationError]
) -> ValidationError:
    """The error of the member that was meant, or one that says what all of those want that may have been."""
    misfits = {leaf: (*_misfit(leaf, keywords), error.error_count()) for leaf, error in failed.items()}
    best = min(misfits.values())
    meant = [failed[leaf] for leaf, misfit in misfits.items() if misfit == best]
    return (merge_errors(method.params, meant) if len(meant) > 1 else None) or meant[0]


def _misfit(leaf: type[BaseModel], keywords: dict[str, Any]) -> tuple[bool, int]:
    """Whether a keyword is the tag of another member, and how many keywords are no fields: the less, the better."""
    fields = leaf.model_fields
    tags = {name: tag_of(field) for name, field in fields.items()}
    is_another = any(tag not in (None, keywords.get(name, tag)) for name, tag in tags.items())
    return is_another, len(keywords.keys() - fields.keys())


def _plain(value: Any) -> Any:
    """Sequences as lists and mappings as dicts, also inside of each other; what is made of neither stays as it is."""
    kind = value.__class__
    if issubclass(kind, Mapping):
        entries = {key: _plain(item) for key, item in value.items()}
        return value if kind is dict and all(map(is_, entries.values(), value.values())) else entries
    if issubclass(kind, Sequence) and not issubclass(kind, (str, bytes, bytearray, memoryview)):
        items = [_plain(item) for item in value]
        return value if kind is list and all(map(is_, items, value)) else items
    return value
