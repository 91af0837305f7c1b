"""How models are built from Python: by a validator of their own, made when the first instance of a class is built.

It takes keywords by the names of attributes: no leniency, nothing unknown, no model but as an instance. Classes that
are only ever parsed never get one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaValidator, core_schema

from acp_runtime.absent import leave_out_when_absent
from acp_runtime.first_errors import stop_at_first_error
from acp_runtime.views import as_keyword, remember

# Attributes of the classes: the schema as the annotations say it, and what builds an instance.
DECLARED, BUILD = "__acp_schema__", "__acp_build__"


class _Instance:
    """Stands for the class in its schema: for that one, pydantic-core would take the validator that it has already."""


def declare(cls: type[BaseModel], model: Any) -> None:
    """Keep the schema of a class, for when an instance is built."""
    schemas = {name: field["schema"] for name, field in model["schema"]["fields"].items()}
    for schema in schemas.values():
        stop_at_first_error(schema)
    type.__setattr__(cls, DECLARED, (model, schemas))
    remember(model["ref"], cls)


def constructor_of(cls: type[BaseModel], *, is_open: bool) -> Callable[..., Any]:
    """What validates keywords into an instance of a class: `build(keywords, self_instance=instance)`.

    Args:
        cls: the class.
        is_open: whether keywords that are no fields are kept.
    """
    cls.model_rebuild()
    if DECLARED not in cls.__dict__:  # somebody else's, with validators round it
        return partial(cls.__pydantic_validator__.validate_python, by_alias=False, by_name=True)
    model, schemas = cls.__dict__[DECLARED]
    fields = core_schema.model_fields_schema(
        {name: core_schema.model_field(_argument(cls, name, schema)) for name, schema in schemas.items()},
        model_name=cls.__name__,
        extra_behavior="allow" if is_open else "forbid",
    )
    schema: Any = {**model, "schema": fields, "cls": _Instance}
    build = SchemaValidator(schema).validate_python
    type.__setattr__(cls, BUILD, build)
    return build


def _argument(cls: type[BaseModel], name: str, schema: Any) -> Any:
    """One keyword: a tag need not be given, and an optional one that isn't given is absent."""
    extra = cls.model_fields[name].json_schema_extra
    if isinstance(extra, dict) and "x-tag" in extra:
        return core_schema.with_default_schema(as_keyword(schema), default=extra["const"])
    return leave_out_when_absent(as_keyword(schema))
