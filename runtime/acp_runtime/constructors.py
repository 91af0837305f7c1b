"""How models are built from Python: a validator of their own, made when the first instance of a class is built.

It takes keywords, by the names of attributes; no leniency, nothing unknown, no model but as an instance. Models that
are only ever parsed never get one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaValidator, core_schema

from acp_runtime.absent import leave_out_when_absent
from acp_runtime.first_errors import stop_at_first_error
from acp_runtime.views import as_keyword, remember


class _Instance:
    """In a schema it stands for the class that is built: for that one, pydantic-core would take the validator it has."""


_DECLARED, _BUILD = "__acp_model__", "__acp_build__"


def declare(cls: type[BaseModel], model: Any) -> None:
    """Keep the schema of a class as its annotations say it, for when an instance is built."""
    declared = {name: field["schema"] for name, field in model["schema"]["fields"].items()}
    for schema in declared.values():
        stop_at_first_error(schema)
    type.__setattr__(cls, _DECLARED, (model, declared))
    remember(model["ref"], cls)


def constructor_of(cls: type[BaseModel], *, is_open: bool) -> Callable[..., Any]:
    """What validates keywords into an instance of a class: `build(keywords, self_instance=instance)`.

    Args:
        cls: the class.
        is_open: whether keywords that are no fields are kept.
    """
    cls.model_rebuild()
    if _DECLARED not in cls.__dict__:
        return cls.__pydantic_validator__.validate_python
    model, declared = cls.__dict__[_DECLARED]
    fields = core_schema.model_fields_schema(
        {name: core_schema.model_field(_keyword(cls, name, schema)) for name, schema in declared.items()},
        model_name=cls.__name__,
        extra_behavior="allow" if is_open else "forbid",
    )
    build = SchemaValidator({**model, "schema": fields, "cls": _Instance, "ref": cls.__name__}).validate_python
    type.__setattr__(cls, _BUILD, build)
    return build


def _keyword(cls: type[BaseModel], name: str, schema: Any) -> Any:
    """One argument: a tag need not be given, and what isn't given is absent."""
    extra = cls.model_fields[name].json_schema_extra
    if isinstance(extra, dict) and "x-tag" in extra:
        return core_schema.with_default_schema(as_keyword(schema), default=extra["const"])
    return leave_out_when_absent(as_keyword(schema))
