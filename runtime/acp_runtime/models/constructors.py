"""How models are built from Python: by a validator of their own, made when the first instance of a class is built.

It takes keywords by the names of attributes: no leniency, nothing unknown, no model but as an instance. What is built
is dumped by a serializer that is made on the same occasion. Neither looks into the models that a model holds, so that
building a notification costs nothing for the hundreds of things it could have held.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Annotated, Any, TypeAlias, cast

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import SchemaSerializer, SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.absent import ABSENT
from acp_runtime.models.fail_fast import stop_at_first_error
from acp_runtime.models.json_values import as_object
from acp_runtime.models.optional import is_optional, optional_argument, required_argument
from acp_runtime.models.pydantic_internals import can_build_in_place, is_complete
from acp_runtime.models.schema_sides import constructor_side, instances_only

# Takes keywords and `self_instance`, the instance to fill in. Raises a `ValidationError`.
Build: TypeAlias = Callable[..., Any]

# The attribute of a class that builds its instances.
BUILD = "_acp_build"


def constructor(cls: Any) -> Build:
    """What builds instances of a generated class."""
    schema = _schema_of_arguments(cls)
    if not is_complete(cls):
        cls.__pydantic_serializer__ = _serializer(cls, schema)
    tags = tags_of(cls)
    for name, tag in tags.items():
        field = schema["schema"]["fields"][name]
        field["schema"] = core_schema.with_default_schema(field["schema"], default=tag)
    return reduce(_marking_as_set, tags, validator_of(cls, schema).validate_python)


def _marking_as_set(build: Build, tag: str) -> Build:
    """Have a tag count as set, so that it is dumped where what isn't set is left out."""

    def build_and_count(keywords: dict[str, Any], *, self_instance: Any) -> None:
        try:
            build(keywords, self_instance=self_instance)
        except ValidationError:
            if keywords.get(tag) is not ABSENT:
                raise
            del keywords[tag]
            build(keywords, self_instance=self_instance)
        self_instance.__pydantic_fields_set__.add(tag)

    return build_and_count


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


def validator_of(cls: Any, schema: CoreSchema) -> SchemaValidator:
    """What builds instances of a class."""
    return SchemaValidator(schema, core_schema.CoreConfig(title=cls.__name__))


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
            schema = core_schema.with_default_schema(
                schema, default_factory=partial(field.get_default, call_default_factory=True)
            )
        return core_schema.model_field(argument_schema(schema), serialization_alias=field.serialization_alias)


def argument_schema(schema: CoreSchema) -> CoreSchema:
    """The schema of an argument that is a field of the protocol's."""
    argument = constructor_side(schema)
    stop_at_first_error(argument)
    return optional_argument(argument) if is_optional(argument) else required_argument(argument)


def tags_of(cls: Any) -> dict[str, Any]:
    """The constants of a class that tell it from the other members of its unions."""
    tags = {name: tag_of(field) for name, field in cls.__pydantic_fields__.items()}
    return {name: tag for name, tag in tags.items() if tag is not None}


def tag_of(field: FieldInfo) -> Any:
    """The constant of a field that tells the members of a union apart; None if it is another field."""
    extra = as_object(field.json_schema_extra)
    return extra["const"] if extra is not None and "x-tag" in extra else None


def placeholder(cls: type) -> type:
    """Stands for a class in the schema of its constructor: pydantic-core takes the validator that a class has."""
    return type(cls.__name__, (), {})
