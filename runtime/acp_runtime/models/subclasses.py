"""Builds instances of classes that users define: subclasses of generated models, and models for extensions.

They can use all of pydantic's features: validators, serializers, computed fields, private attributes, defaults,
configuration. So pydantic completes the class and makes the schema of its constructor, in which the arguments for
generated fields are those of a generated class.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Set
from functools import partial
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaValidator, core_schema, to_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.absent import ABSENT
from acp_runtime.models.constructors import Build, argument_schema, placeholder, validator_of
from acp_runtime.models.generated import is_generated_field
from acp_runtime.models.instances_only import instances_only, is_instance
from acp_runtime.models.optional import is_optional, optional_argument
from acp_runtime.models.parsing import defaults_to_none, uses_json_side
from acp_runtime.models.pydantic_internals import Schema, fields_of, is_complete, model_of, without_schema
from acp_runtime.models.tags import tag_of, tags_of


def constructor_of_subclass(cls: Any) -> Build:
    """Return the function that builds instances of a user's class."""
    _complete(cls)
    validator = validator_of_arguments(cls)
    build = partial(_build_by_pydantic, cls) if validator is None else validator.validate_python
    if getattr(cls, "__pydantic_custom_init__", False):
        build = partial(_build_or_parse, cls, build)
    return partial(_build_without_absent, build, tags_of(cls).keys())


def validator_of_arguments(cls: Any) -> SchemaValidator | None:
    """Return the validator for a constructor's arguments; None if pydantic's schema isn't as expected."""
    with without_schema(cls), instances_only(cls):
        schema: Any = TypeAdapter(Annotated[Any, _SchemaOf(cls)]).core_schema
    schema = _with_inlined_class(cls, schema)
    top = schema["schema"] if schema["type"] == "definitions" else schema
    fields = fields_of(top)
    if fields is None or uses_json_side(fields):
        return None
    _accept_keywords(cls, model_of(top), fields)
    return validator_of(cls, schema)


def _build_by_pydantic(cls: Any, data: dict[str, Any], *, self_instance: Any) -> Any:
    validate = cls.__pydantic_validator__.validate_python
    given = {**tags_of(cls), **data}
    return validate(given, self_instance=self_instance, by_alias=False, by_name=True, extra="forbid")


class _SchemaOf:
    """A type with the schema of a class. Unlike the class, it has no validator that a TypeAdapter would reuse."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self._cls)


def _complete(cls: Any) -> None:
    """Let pydantic complete a class. Its annotations may refer to local names of the code that builds the instance."""
    if not is_complete(cls) and cls.model_rebuild(raise_errors=False, _types_namespace=_names_of_caller()) is False:
        cls.__pydantic_validator__.validate_python({})  # raises an error that names the undefined annotation


def _names_of_caller() -> Mapping[str, Any]:
    frame = inspect.currentframe()
    while frame and frame.f_back and frame.f_globals.get("__name__", "").startswith("acp_runtime."):
        frame = frame.f_back
    return frame.f_locals if frame else {}


def _with_inlined_class(cls: Any, schema: Schema) -> Schema:
    """Return the schema of a class that refers to itself with instance checks in place of these references."""
    if schema["type"] != "definitions" or schema["schema"]["type"] != "definition-ref":
        return schema
    ref = schema["schema"]["schema_ref"]
    by_ref = {each["ref"]: each for each in schema["definitions"]}
    top = {key: value for key, value in by_ref[ref].items() if key != "ref"}
    by_ref[ref] = {**is_instance(cls), "ref": ref}
    return {**schema, "schema": top, "definitions": list(by_ref.values())}


def _accept_keywords(cls: Any, model: Schema, fields: Schema) -> None:
    """Change the schema of a class to the schema of its constructor."""
    decorated = {validator.info.mode for validator in cls.__pydantic_decorators__.model_validators.values()}
    sees_raw_input = bool(decorated - {"after"})
    for name, field in fields["fields"].items():
        info = cls.__pydantic_fields__[name]
        if is_generated_field(cls, name):
            tag, argument = tag_of(info), argument_schema(field["schema"])
            field["schema"] = argument if tag is None else core_schema.with_default_schema(argument, default=tag)
        elif defaults_to_none(cls, name) and is_optional(field["schema"]):
            field["schema"] = optional_argument(field["schema"])
        if info.alias_priority != 2 and not sees_raw_input:
            field.pop("validation_alias", None)
    _set_extra_behavior(cls, fields)
    model["cls"] = placeholder(cls)
    model["config"] = {**model.get("config", {}), "validate_by_name": True, "validate_by_alias": True}


def _set_extra_behavior(cls: Any, fields: Schema) -> None:
    configured = cls.model_config.get("extra")
    if configured == "allow" and not cls.__acp_open__:
        older_pydantic.forbid_extra(fields, assignable=not cls.model_config.get("frozen"))
    else:
        fields["extra_behavior"] = configured


def _build_or_parse(cls: Any, build: Build, data: dict[str, Any], *, self_instance: Any) -> Any:
    """Build an instance of a class with its own `__init__`, which pydantic also calls with parsed JSON."""
    try:
        return build(data, self_instance=self_instance)
    except ValidationError as error:
        if data.keys() <= cls.__pydantic_fields__.keys():
            raise
        try:
            json = to_json(data)
        except PydanticSerializationError:
            raise error from None
    return cls.__pydantic_validator__.validate_json(json, self_instance=self_instance)


def _build_without_absent(build: Build, tags: Set[str], data: dict[str, Any], *, self_instance: Any) -> None:
    """Build an instance from the arguments that aren't absent, and mark its tags as set."""
    given = {name: value for name, value in data.items() if value is not ABSENT}
    built = build(given, self_instance=self_instance)
    self_instance.__pydantic_fields_set__.update(tags)
    if built is not self_instance:
        warnings.warn(
            f"A validator of {type(self_instance).__name__} is returning a value other than `self`, which a constructor"
            " can't return. Modify `self` and return it instead.",
            stacklevel=4,
        )
