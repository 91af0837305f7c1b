"""What a union consists of: its members, and the models that they can be."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel


def members_of(union: Any) -> tuple[Any, ...]:
    """The members of a union. Python makes a union of one type that type."""
    return (union,) if isinstance(union, type) else get_args(union)


def concrete_models(alias: Any) -> list[type[BaseModel]]:
    """The models that a model, or a generated union of models, can be; none for anything else."""
    if get_origin(alias) is Annotated:
        return concrete_models_of_union(get_args(alias)[0])
    return [alias] if is_model_class(alias) else []


def concrete_models_of_union(union: Any) -> list[type[BaseModel]]:
    """The models that the members of a union can be."""
    return [leaf for member in members_of(union) for leaf in concrete_models(member)]


def is_model_class(member: Any) -> bool:
    """Whether a member is a class of models."""
    return isinstance(member, type) and issubclass(member, BaseModel)
