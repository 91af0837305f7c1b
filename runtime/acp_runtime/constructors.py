"""How models are built from Python: by a validator of their own, made when the first instance of a class is built.

It takes keywords by the names of attributes: no leniency, nothing unknown, no model but as an instance. What is built
is dumped by a serializer that is made on the same occasion. Neither looks into the models that a model holds, so that
building a notification costs nothing for the hundreds of things it could have held.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeAlias, cast

from pydantic import BaseModel, GetCoreSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import SchemaSerializer, SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.absent import leave_out_when_absent, refuse_absent
from acp_runtime.first_errors import stop_at_first_error
from acp_runtime.views import as_keyword, instances_only

# Takes keywords and `self_instance`, the instance to fill in. Raises a `ValidationError`.
Build: TypeAlias = Callable[..., Any]

# The attribute of a class that builds its instances.
BUILD = "__acp_build__"

_DECORATED = ("validators", "field_validators", "root_validators", "model_validators")
_DUMPED_BY_HAND = ("field_serializers", "model_serializers", "computed_fields")


class _Instance:
    """Stands for the class in its schema: for that one, pydantic-core would take the validator it has already."""


class _Arguments:
    """The type of what a constructor takes."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        fields = {name: self._field(field, handler) for name, field in self._cls.model_fields.items()}
        arguments = core_schema.model_fields_schema(
            fields, model_name=self._cls.__name__, extra_behavior="allow" if self._cls.__acp_open__ else "forbid"
        )
        config = core_schema.CoreConfig(
            title=self._cls.__name__, strict=True, serialize_by_alias=True, extra_fields_behavior="allow"
        )
        return core_schema.model_schema(_Instance, arguments, config=config)

    def _field(self, field: FieldInfo, handler: GetCoreSchemaHandler) -> core_schema.ModelField:
        annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        schema = as_keyword(handler.generate_schema(annotation))
        stop_at_first_error(schema)
        extra = field.json_schema_extra
        if isinstance(extra, dict) and "x-tag" in extra:  # it need not be given
            schema = core_schema.with_default_schema(schema, default=extra["const"])
        elif not field.is_required():
            schema = leave_out_when_absent(core_schema.with_default_schema(schema, default=None))
        else:
            schema = refuse_absent(schema)
        return core_schema.model_field(schema, serialization_alias=field.serialization_alias)


def build_first(keywords: dict[str, Any], *, self_instance: Any) -> None:
    """Build the first instance of a class: make what builds the others, and leave it to that."""
    cls = self_instance.__class__
    build = _constructor(cls) if _is_plain(cls) else _constructor_of_pydantic(cls)
    type.__setattr__(cls, BUILD, build)
    build(keywords, self_instance=self_instance)


def _constructor(cls: Any) -> Build:
    with instances_only():
        schema: Any = TypeAdapter(Annotated[Any, _Arguments(cls)]).core_schema
    if not cls.__pydantic_complete__:
        fields = {**schema["schema"], "extra_behavior": "allow"}
        cls.__pydantic_serializer__ = SchemaSerializer(cast("CoreSchema", {**schema, "cls": cls, "schema": fields}))
    return SchemaValidator(schema, core_schema.CoreConfig(title=cls.__name__)).validate_python


def _constructor_of_pydantic(cls: type[BaseModel]) -> Build:
    """For somebody else's class of ours, with validators or private attributes."""
    cls.model_rebuild()
    return partial(cls.__pydantic_validator__.validate_python, by_alias=False, by_name=True, extra="forbid")


def _is_plain(cls: Any) -> bool:
    decorated = (getattr(cls.__pydantic_decorators__, kind, ()) for kind in (*_DECORATED, *_DUMPED_BY_HAND))
    return not any(decorated) and not cls.__private_attributes__ and cls.__pydantic_post_init__ is None
