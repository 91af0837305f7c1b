"""Builds instances from Python keywords. Each class gets a validator for its constructor when it is first called.

The validator takes keywords by the names of attributes: no leniency, no unknown keywords, and models only as
instances. A serializer for the instances is made along with it. Neither includes the schemas of the models in the
fields, so building a notification doesn't cost the schemas of everything that it could hold.
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
from acp_runtime.models.instances_only import instances_only
from acp_runtime.models.optional import is_optional, optional_argument, required_argument
from acp_runtime.models.pydantic_internals import can_build_in_place, is_complete
from acp_runtime.models.schema_sides import constructor_side
from acp_runtime.models.tags import tags_of

# Takes keywords and `self_instance`, the instance to fill in. Raises a `ValidationError`.
Build: TypeAlias = Callable[..., Any]

# The attribute of a class that builds its instances.
BUILD = "_acp_build"


def constructor(cls: Any) -> Build:
    """Return the function that builds instances of a generated class, and set the serializer of the class."""
    schema = _schema_of_arguments(cls)
    if not is_complete(cls):
        cls.__pydantic_serializer__ = _serializer(cls, schema)
    tags = tags_of(cls)
    for name, tag in tags.items():
        field = schema["schema"]["fields"][name]
        field["schema"] = core_schema.with_default_schema(field["schema"], default=tag)
    return reduce(_marking_as_set, tags, validator_of(cls, schema).validate_python)


def _marking_as_set(build: Build, tag: str) -> Build:
    """Mark a tag as set, so that it is dumped even when unset fields are excluded."""

    def build_and_mark(keywords: dict[str, Any], *, self_instance: Any) -> None:
        try:
            build(keywords, self_instance=self_instance)
        except ValidationError:
            if keywords.get(tag) is not ABSENT:
                raise
            del keywords[tag]
            build(keywords, self_instance=self_instance)
        self_instance.__pydantic_fields_set__.add(tag)

    return build_and_mark


def _schema_of_arguments(cls: Any) -> Any:
    if not can_build_in_place():  # the class was built before its annotations could be evaluated
        cls.model_rebuild()
    with instances_only(object):
        return TypeAdapter(Annotated[Any, _Arguments(cls)]).core_schema


def shallow_serializer(cls: Any) -> SchemaSerializer:
    """Return a serializer for a generated class that leaves models in its fields to their own serializers."""
    return _serializer(cls, _schema_of_arguments(cls))


def _serializer(cls: Any, schema: Any) -> SchemaSerializer:
    fields = {key: value for key, value in schema["schema"].items() if key != "extras_schema"}
    shallow = {**schema, "cls": cls, "schema": {**fields, "extra_behavior": "allow"}}
    return SchemaSerializer(cast("CoreSchema", shallow))


def validator_of(cls: Any, schema: CoreSchema) -> SchemaValidator:
    """Return the validator for the constructor of a class. Its errors are titled with the name of the class."""
    return SchemaValidator(schema, core_schema.CoreConfig(title=cls.__name__))


class _Arguments:
    """A type whose schema is that of a constructor's arguments."""

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
    """Return the schema of the argument for a generated field."""
    argument = constructor_side(schema)
    stop_at_first_error(argument)
    return optional_argument(argument) if is_optional(argument) else required_argument(argument)


def placeholder(cls: type) -> type:
    """Return a placeholder for a class in its constructor's schema, so that pydantic-core can't reuse its validator."""
    return type(cls.__name__, (), {})
