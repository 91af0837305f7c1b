"""Unions of models: told apart by a tag, or tried in order.

Each marker stands in an `Annotated[...]` and builds the pydantic-core schema that does what it says. JSON is validated
inside pydantic-core. Python's side takes instances as they are, and decoded JSON by the rules for JSON; where it finds
a mistake it reports the member that was meant, and no other that was tried.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, Tag, ValidationError
from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema, SerSchema

from acp_runtime.models.dumping import declared_serializer, nested_declared_serializer
from acp_runtime.models.generated import is_generated_module
from acp_runtime.models.names import wire_name
from acp_runtime.models.schema_context import is_in_user_code, is_received
from acp_runtime.models.schema_sides import instance_schema
from acp_runtime.models.union_members import concrete_models, concrete_models_of_union, is_model_class, members_of
from acp_runtime.models.validation_errors import UnionValidator

# The label of a choice in the path of its errors, and the choice.
Choice: TypeAlias = tuple[str, CoreSchema]


class ByTag:
    """A union whose members are told apart by the constant in one field, then by order.

    A value with a known tag is that member's or an error of that member; members without a constant (an open
    `<Union>Other`, a fallback without a tag) are tried after them, in order.

    Args:
        attribute: the Python name of the field that holds the tag.
    """

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __repr__(self) -> str:
        return f"ByTag({self.attribute!r})"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        leaves = concrete_models_of_union(source)
        if (instance := instance_schema(*leaves)) is not None:
            return cast("CoreSchema", instance)
        tagged: dict[str, CoreSchema] = {}
        others: list[Choice] = []
        for member in members_of(source):
            schema = handler.generate_schema(member)
            tags = list(_tag_values(member, self.attribute))
            tagged.update(dict.fromkeys(tags, schema))
            others += [] if tags else [(_label(member), schema)]
        tag = wire_name(self.attribute)
        by_tag = core_schema.tagged_union_schema(tagged, tag, from_attributes=False)
        meant = UnionValidator(_name(self, source), leaves, by_tag=tag if others else None, tagged=True)
        return _union(first_match([(tag, by_tag), *others]) if others else by_tag, meant)


class _FirstMatch:
    """A union without a tag: the first member that validates."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members = members_of(source)
        if all(map(is_model_class, members)) and (instance := instance_schema(*members)) is not None:
            return cast("CoreSchema", instance)
        schema = first_match([(_label(member), handler.generate_schema(member)) for member in members])
        return _union(
            schema,
            UnionValidator(
                _name(self, source), concrete_models_of_union(source), only_models=all(map(is_model_class, members))
            ),
        )

    def __repr__(self) -> str:
        return "FirstMatch"


class _ExactlyOne:
    """A union of which exactly one member may match, told apart by the keys that a member requires."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members: tuple[type[BaseModel], ...] = members_of(source)
        if (instance := instance_schema(*members)) is not None:
            return cast("CoreSchema", instance)

        def check(value: BaseModel) -> BaseModel:
            payload = value.model_dump_json()
            if sum(_parses(member, payload) for member in members) > 1:
                raise PydanticCustomError("more_than_one", "Input should match one variant only, and matches several")
            return value

        schema = first_match([(_label(member), handler.generate_schema(member)) for member in members])
        return _union(
            core_schema.no_info_after_validator_function(check, schema), UnionValidator(_name(self, source), members)
        )

    def __repr__(self) -> str:
        return "ExactlyOne"


FirstMatch: Final = _FirstMatch()
ExactlyOne: Final = _ExactlyOne()


def first_match(choices: list[Choice], serialization: SerSchema | None = None) -> CoreSchema:
    """The first choice that validates."""
    return core_schema.union_schema(
        [(schema, label) for label, schema in choices], mode="left_to_right", serialization=serialization
    )


def _union(schema: CoreSchema, meant: UnionValidator) -> CoreSchema:
    """A union whose mistakes are said once.

    JSON is validated inside pydantic-core alone where nothing has to be left out of its errors, and for a connection.
    """
    others = is_in_user_code()
    dumped = declared_serializer(*meant.leaves, for_user_code=others) if meant.only_models else None
    serialization = dumped or nested_declared_serializer(*meant.leaves)
    once = core_schema.no_info_wrap_validator_function(meant, schema, serialization=serialization)
    if others:
        return _called(meant.__name__, once)
    if meant.has_labels and not is_received():
        return once
    return core_schema.json_or_python_schema(schema, once, serialization=serialization)


def _called(name: str, schema: CoreSchema) -> CoreSchema:
    """A schema with a name for paths of errors, where it is the member of a union of somebody else's."""

    def generated(_: Any) -> CoreSchema:
        return schema

    return Tag(name).__get_pydantic_core_schema__(Any, cast("Any", generated))


def _name(marker: Any, union: Any) -> str:
    """What a generated module calls a union; the names of its models if none does."""
    if is_received():  # nobody sees the name
        return ""
    leaves = concrete_models_of_union(union)
    for module in {leaf.__module__ for leaf in leaves} or filter(is_generated_module, list(sys.modules)):
        for name, alias in _annotated_aliases(module):
            if marker in alias.__metadata__ and alias.__origin__ == union:
                return name
    return " or ".join(leaf.__name__ for leaf in leaves) or "union"


@cache
def _annotated_aliases(module: str) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(sys.modules[module]).items() if get_origin(value) is Annotated]


def _label(member: Any) -> str:
    models = [leaf.__name__ for leaf in concrete_models(member)]
    items = [each.__name__ for each in get_args(member) if isinstance(each, type)]
    name = getattr(member, "__name__", "union")
    return " or ".join(models) or (f"{name}[{items[0]}]" if items else str(name))


def _tag_values(member: Any, attribute: str) -> Iterable[str]:
    """The constants that a union member, or every member of a nested union, has in its tag field."""
    for leaf in concrete_models(member):
        extra: Any = leaf.model_fields[attribute].json_schema_extra if attribute in leaf.model_fields else None
        if isinstance(extra, dict) and "x-tag" in extra:
            yield extra["const"]


def _parses(member: type[BaseModel], payload: str) -> bool:
    try:
        member.model_validate_json(payload)
    except ValidationError:
        return False
    return True
