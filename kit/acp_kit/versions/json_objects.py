"""JSON objects, which are translated instead of models: most of what both versions have is the same JSON."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from acp_runtime import InvalidParams, Model

Json: TypeAlias = dict[str, Any]

ModelT = TypeVar("ModelT", bound=Model)


def without(value: Json, *names: str) -> Json:
    """Return an object without some of its keys."""
    return {key: item for key, item in value.items() if key not in names}


def only(value: Json, *names: str) -> Json:
    """Return an object with some of its keys."""
    return {key: item for key, item in value.items() if key in names}


def renamed(value: Json, **names: str) -> Json:
    """Return an object with other keys."""
    return {names.get(key, key): item for key, item in value.items()}


def params_of(cls: type[ModelT], value: Json) -> ModelT:
    """Return params for the agent.

    Raises:
        InvalidParams: if version 1 doesn't allow them.
    """
    try:
        return cls.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        fields = ", ".join(".".join(map(str, detail["loc"])) for detail in details[:10])
        raise InvalidParams(f"This agent takes other params: {fields}") from error


def same_json(value: Model, cls: type[ModelT]) -> ModelT:
    """Return the model of the other version that has the same JSON."""
    return cls.model_validate(value.model_dump())
