"""How models are built from Python: by a validator of their own, made when the first instance of a class is built.

It takes keywords by the names of attributes: no leniency, nothing unknown, no model but as an instance. What is built
is dumped by a serializer that is made on the same occasion. Neither looks into the models that a model holds, so that
building a notification costs nothing for the hundreds of things it could have held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, cast

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import SchemaSerializer, SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime import older_pydantic
from acp_runtime.absent import leave_out_when_absent, refuse_absent
from acp_runtime.first_errors import stop_at_first_error
from acp_runtime.generated import is_generated
from acp_runtime.json_values import as_object
from acp_runtime.pydantic_internals import can_build_in_place, is_complete
from acp_runtime.views import as_keyword, instances_only

# Takes keywords and `self_instance`, the instance to fill in. Raises a `ValidationError`.
Build: TypeAlias = Callable[..., Any]

# The attribute of a class that builds its instances.
BUILD = "_acp_build"


def build_first(keywords: dict[str, Any], *, self_instance: Any) -> None:
    """Build the first instance of a class: make what builds the others, and leave it to that."""
    cls = self_instance.__class__
    build = _constructor(cls) if is_generated(cls) else _constructor_of_subclass(cls)
    type.__setattr__(cls, BUILD, build)
    build(keywords, self_instance=self_instance)


def _constructor_of_subclass(cls: Any) -> Build:
    from acp_runtime.subclasses import constructor_of_subclass

    return constructor_of_subclass(cls)


def _constructor(cls: Any) -> Build:
    schema = _schema_of_arguments(cls)
    if not is_complete(cls):
        cls.__pydantic_serializer__ = _serializer(cls, schema)
    return validator_of(cls, schema)


def _schema_of_arguments(cls: Any) -> Any:
    if not can_build_in_place():  # the class was built before its annotations could be evaluated
        cls.model_rebuild()
    with instances_only(object):
        return TypeAdapter(Annotated[Any, _Arguments(cls)]).core_schema


def shallow_serializer(cls: Any) -> SchemaSerializer:
    """What dumps the instances of a generated class and leaves what they hold to itself."""
    return _serializer(cls, _schema_of_arguments(cls))


def _serializer(cls: Any, schema: Any) -> SchemaSerializer:
    fields = {key: value for key, value in schema["schema"].items() if key != "extras_schema"}
    shallow = {**schema, "cls": cls, "schema": {**fields, "extra_behavior": "allow"}}
    return SchemaSerializer(cast("CoreSchema", shallow))


def validator_of(cls: Any, schema: CoreSchema) -> Build:
    """What builds instances of a class."""
    return SchemaValidator(schema, core_schema.CoreConfig(title=cls.__name__)).validate_python


class _Arguments:
    """The type of what a constructor takes."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        fields = {name: self._field(field, handler) for name, field in self._cls.__pydantic_fields__.items()}
        arguments = core_schema.model_fields_schema(fields, model_name=self._cls.__name__, extra_behavior="allow")
        if not self._cls.__acp_open__:
            older_pydantic.forbid_extra(arguments)
        config = core_schema.CoreConfig(
            title=self._cls.__name__, strict=True, serialize_by_alias=True, extra_fields_behavior="allow"
        )
        return core_schema.model_schema(placeholder(self._cls), arguments, config=config)

    def _field(self, field: FieldInfo, handler: GetCoreSchemaHandler) -> core_schema.ModelField:
        annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        schema = handler.generate_schema(annotation)
        if not field.is_required():
            schema = core_schema.with_default_schema(schema, default=None)
        return core_schema.model_field(argument_schema(field, schema), serialization_alias=field.serialization_alias)


def argument_schema(field: FieldInfo, schema: CoreSchema) -> CoreSchema:
    """The schema of an argument that is a field of the protocol's. A tag need not be given."""
    argument = as_keyword(schema)
    stop_at_first_error(argument)
    if (tag := tag_of(field)) is not None:
        return core_schema.with_default_schema(argument, default=tag)
    return refuse_absent(argument) if field.is_required() else leave_out_when_absent(argument)


def tag_of(field: FieldInfo) -> Any:
    """The constant of a field that tells the members of a union apart; None if it is another field."""
    extra = as_object(field.json_schema_extra)
    return extra["const"] if extra is not None and "x-tag" in extra else None


def placeholder(cls: type) -> type:
    """Stands for a class in the schema of its constructor: pydantic-core takes the validator that a class has."""
    return type(cls.__name__, (), {})
