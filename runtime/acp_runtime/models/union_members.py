"""The members of a union, and the concrete models among them."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel


def members_of(union: Any) -> tuple[Any, ...]:
    """Return the members of a union. Python reduces a union of one type to that type."""
    return (union,) if isinstance(union, type) else get_args(union)


def concrete_models(alias: Any) -> list[type[BaseModel]]:
    """Return the model classes of a model or of a generated union of models; none for anything else."""
    if get_origin(alias) is Annotated:
        return concrete_models_of_union(get_args(alias)[0])
    return [alias] if is_model_class(alias) else []


def concrete_models_of_union(union: Any) -> list[type[BaseModel]]:
    """Return the model classes of all members of a union."""
    return [model for member in members_of(union) for model in concrete_models(member)]


def is_model_class(member: Any) -> bool:
    """Return whether a member is a model class."""
    return isinstance(member, type) and issubclass(member, BaseModel)
