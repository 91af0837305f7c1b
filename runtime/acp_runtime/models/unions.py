"""Unions of models: told apart by a tag, or tried in order.

Each marker is used in an `Annotated[...]` and builds a pydantic-core schema. JSON is validated inside pydantic-core.
The Python side takes instances unchanged and validates decoded JSON like JSON; its errors are those of the member that
was intended.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, Tag, ValidationError
from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.dumping import declared_serializer, nested_declared_serializer
from acp_runtime.models.generated import is_generated_module
from acp_runtime.models.instances_only import instance_schema
from acp_runtime.models.names import wire_name
from acp_runtime.models.schema_context import is_in_user_code, is_received
from acp_runtime.models.tags import tags_of
from acp_runtime.models.union_members import concrete_models, concrete_models_of_union, is_model_class, members_of
from acp_runtime.models.validation_errors import UnionValidator

# The label of an alternative in the path of its errors, and its schema.
Choice: TypeAlias = tuple[str, CoreSchema]


class ByTag:
    """A union whose members are told apart by their tags.

    A value with a known tag is validated by that tag's member alone. Members without a constant tag (an open
    `<Union>Other`, a fallback without a tag) are tried in order if no tag matches.

    Args:
        attribute: the Python name of the field that holds the tag.
    """

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __repr__(self) -> str:
        return f"ByTag({self.attribute!r})"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        models = concrete_models_of_union(source)
        if (instance := instance_schema(*models)) is not None:
            return cast("CoreSchema", instance)
        tagged: dict[str, CoreSchema] = {}
        others: list[Choice] = []
        for member in members_of(source):
            schema = handler.generate_schema(member)
            tags = _tags(member, self.attribute)
            tagged.update(dict.fromkeys(tags, schema))
            others += [] if tags else [(_member_label(member), schema)]
        tag = wire_name(self.attribute)
        by_tag = core_schema.tagged_union_schema(tagged, tag, from_attributes=False)
        validator = UnionValidator(_union_name(self, source), models, by_tag=tag if others else None, tagged=True)
        return _union(first_match([(tag, by_tag), *others]) if others else by_tag, validator)


class _FirstMatch:
    """A union without a tag. A value becomes an instance of the first member that accepts it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members = members_of(source)
        only_models = all(map(is_model_class, members))
        if only_models and (instance := instance_schema(*members)) is not None:
            return cast("CoreSchema", instance)
        schema = first_match([(_member_label(member), handler.generate_schema(member)) for member in members])
        models = concrete_models_of_union(source)
        return _union(schema, UnionValidator(_union_name(self, source), models, only_models=only_models))

    def __repr__(self) -> str:
        return "FirstMatch"


class _ExactlyOne:
    """A union without a tag, of which exactly one member may accept a value."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members: tuple[type[BaseModel], ...] = members_of(source)
        if (instance := instance_schema(*members)) is not None:
            return cast("CoreSchema", instance)

        def check(value: BaseModel) -> BaseModel:
            payload = value.model_dump_json()
            matching = [member.__name__ for member in members if _parses(member, payload)]
            if len(matching) > 1:
                message = "Input should match exactly one variant, but matches {variants}"
                raise PydanticCustomError("more_than_one", message, {"variants": " and ".join(matching)})
            return value

        first = first_match([(_member_label(member), handler.generate_schema(member)) for member in members])
        schema = core_schema.no_info_after_validator_function(check, first)
        return _union(schema, UnionValidator(_union_name(self, source), members))

    def __repr__(self) -> str:
        return "ExactlyOne"


FirstMatch: Final = _FirstMatch()
ExactlyOne: Final = _ExactlyOne()


def first_match(choices: list[Choice]) -> CoreSchema:
    """Return the schema for the first of several alternatives that accepts a value."""
    return core_schema.union_schema([(schema, label) for label, schema in choices], mode="left_to_right")


def _union(schema: CoreSchema, validator: UnionValidator) -> CoreSchema:
    """Return a union whose errors are those of the intended member.

    JSON is validated without a call into Python if its errors have no labels of alternatives, or for a connection.
    """
    in_user_code = is_in_user_code()
    if validator.only_models:
        serialization = declared_serializer(*validator.models, for_user_code=in_user_code)
    else:
        serialization = nested_declared_serializer(*validator.models)
    narrowed = core_schema.no_info_wrap_validator_function(validator, schema, serialization=serialization)
    if in_user_code:
        return _labelled(validator.__name__, narrowed)
    if validator.has_labels and not is_received():
        return narrowed
    return core_schema.json_or_python_schema(schema, narrowed, serialization=serialization)


def _labelled(name: str, schema: CoreSchema) -> CoreSchema:
    """Return a schema with a label for the path of errors, in case it becomes a member of a user's union."""

    def generated(_: Any) -> CoreSchema:
        return schema

    return Tag(name).__get_pydantic_core_schema__(Any, cast("Any", generated))


def _union_name(marker: Any, union: Any) -> str:
    """Return the name of a union in its generated module, or else the names of its models."""
    if is_received():  # a connection's errors don't show it
        return ""
    models = concrete_models_of_union(union)
    for module in {model.__module__ for model in models} or filter(is_generated_module, list(sys.modules)):
        for name, alias in _annotated_aliases(module):
            if marker in alias.__metadata__ and alias.__origin__ == union:
                return name
    return " or ".join(model.__name__ for model in models) or "union"


@cache
def _annotated_aliases(module: str) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(sys.modules[module]).items() if get_origin(value) is Annotated]


def _member_label(member: Any) -> str:
    models = [model.__name__ for model in concrete_models(member)]
    items = [each.__name__ for each in get_args(member) if isinstance(each, type)]
    name = getattr(member, "__name__", "union")
    return " or ".join(models) or (f"{name}[{items[0]}]" if items else str(name))


def _tags(member: Any, attribute: str) -> list[str]:
    """Return the tags of a union's member, which has several if it is a union itself."""
    tags = [tags_of(model).get(attribute) for model in concrete_models(member)]
    return [tag for tag in tags if tag is not None]


def _parses(member: type[BaseModel], payload: str) -> bool:
    try:
        member.model_validate_json(payload)
    except ValidationError:
        return False
    return True
