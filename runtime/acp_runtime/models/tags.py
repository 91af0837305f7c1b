"""Tags: the constants that tell the members of a union apart."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from acp_runtime.models.json_values import as_object


def tags_of(cls: Any) -> dict[str, Any]:
    """Return the tags of a model, by the names of their fields."""
    tags = {name: tag_of(field) for name, field in cls.__pydantic_fields__.items()}
    return {name: tag for name, tag in tags.items() if tag is not None}


def tag_of(field: FieldInfo) -> Any:
    """Return the constant of a tag's field; None for any other field."""
    extra = as_object(field.json_schema_extra)
    return extra["const"] if extra is not None and "x-tag" in extra else None
