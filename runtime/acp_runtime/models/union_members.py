"""The members of a union, the models among them, and the tags that tell them apart."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_runtime.models.json_values import as_object


def members_of(union: Any) -> tuple[Any, ...]:
    """Return the members of a union. Python reduces a union of one type to that type."""
    return (union,) if isinstance(union, type) else get_args(union)


def alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union and of the unions in it; for another type, that type."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from alternatives(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for member in get_args(annotation):
            yield from alternatives(member)
    else:
        yield annotation


def concrete_models(alias: Any) -> list[type[BaseModel]]:
    """Return the model classes of a model or of a generated union of models; none for anything else."""
    return [kind for kind in alternatives(alias) if isinstance(kind, type) and issubclass(kind, BaseModel)]


def models_in(annotation: Any) -> Iterator[type[Any]]:
    """Yield the model classes in the type of a field, also those of items and values."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def as_declared(value: Any, classes: tuple[type[BaseModel], ...]) -> Any:
    """Return an instance of a subclass as an instance of the declared class; any other value unchanged."""
    for cls in type(value).__mro__:
        if cls in classes:
            return value if cls is type(value) else _convert(cls, value)
    return value


def _convert(cls: type[BaseModel], value: BaseModel) -> BaseModel:
    fields = {name: item for name, item in vars(value).items() if name in cls.model_fields}
    converted = cls.model_construct(value.model_fields_set, **fields)
    if converted.__pydantic_extra__ is not None:  # an unknown key may be named like a field
        converted.__pydantic_extra__.update(value.model_extra or {})
    return converted


def tags_of(cls: Any) -> dict[str, Any]:
    """Return the tags of a model, by the names of their fields."""
    tags = {name: tag_of(field) for name, field in cls.__pydantic_fields__.items()}
    return {name: tag for name, tag in tags.items() if tag is not None}


def tag_of(field: FieldInfo) -> Any:
    """Return the constant of a tag's field; None for any other field."""
    extra = as_object(field.json_schema_extra)
    return extra["const"] if extra is not None and "x-tag" in extra else None
