"""Unions of models: told apart by a tag, or tried in order.

Each marker is used in an `Annotated[...]` and builds a pydantic-core schema. Where alternatives are tried in order,
pydantic-core reports the errors of all. Their paths have labels, by which `acp_runtime.models.errors` finds those of
the alternative that the caller intended.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.errors import label, tag_label
from acp_runtime.models.json_values import wire_name
from acp_runtime.models.markers import SourceRepr, in_order, lax_or_strict
from acp_runtime.models.union_members import concrete_models, members_of, tags_of


class ByTag(SourceRepr):
    """A union whose members are told apart by their tags.

    A value with a known tag is validated by that tag's member alone. Members without a constant tag (an open
    `<Union>Other`, a fallback without a tag) are tried in order if no tag matches.

    Args:
        attribute: the Python name of the field that holds the tag.
    """

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        tagged: dict[str, CoreSchema] = {}
        untagged: list[tuple[CoreSchema, str]] = []
        for member in members_of(source):
            schema = handler.generate_schema(member)
            tags = [tags_of(model).get(self.attribute) for model in concrete_models(member)]
            tagged.update({tag: schema for tag in tags if tag is not None})
            untagged += [] if any(tags) else [(schema, label(_name(member)))]
        wire = wire_name(self.attribute)
        if wire == self.attribute:
            return _with_others(tagged, wire, untagged)
        # JSON has the key. Instances, which are what constructors take and serializers get, have the attribute.
        parsed = _with_others(tagged, [[wire], [self.attribute]], untagged)
        return lax_or_strict(parsed, _with_others(tagged, self.attribute, untagged))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(_by_key(schema, wire_name(self.attribute)))


def _with_others(tagged: dict[str, CoreSchema], key: Any, others: list[Any]) -> CoreSchema:
    by_tag = core_schema.tagged_union_schema(tagged, key)
    name = key if isinstance(key, str) else key[0][0]
    return in_order([(by_tag, tag_label(name)), *others]) if others else by_tag


def _by_key(schema: Any, key: str) -> CoreSchema:
    """Return the schema of a union for its JSON schema, where only the JSON key tells the members apart."""
    if schema["type"] == "lax-or-strict":
        return _by_key(schema["lax_schema"], key)
    if schema["type"] == "union":
        (tagged, name), *others = schema["choices"]
        return cast("CoreSchema", {**schema, "choices": [(_by_key(tagged, key), name), *others]})
    return cast("CoreSchema", {**schema, "discriminator": key})


class _FirstMatch(SourceRepr):
    """A union without a tag. A value becomes an instance of the first member that accepts it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return in_order(_label_members(members_of(source), handler))


class _ExactlyOne(SourceRepr):
    """A union without a tag, of which exactly one member may accept a value."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members: tuple[type[BaseModel], ...] = members_of(source)

        def check(value: BaseModel) -> BaseModel:
            payload = value.model_dump()
            matching = [member.__name__ for member in members if _parses(member, payload)]
            if len(matching) > 1:
                message = "Input should match exactly one variant, but matches {variants}"
                raise PydanticCustomError("more_than_one", message, {"variants": " and ".join(matching)})
            return value

        return core_schema.no_info_after_validator_function(check, in_order(_label_members(members, handler)))


FirstMatch: Final = _FirstMatch()
ExactlyOne: Final = _ExactlyOne()


def _label_members(members: Any, handler: GetCoreSchemaHandler) -> list[tuple[CoreSchema, str]]:
    return [(handler.generate_schema(member), label(_name(member))) for member in members]


def _name(member: Any) -> str:
    if get_origin(member) is Annotated:
        return _name(get_args(member)[0])
    models = [model.__name__ for model in concrete_models(member)]
    items = [item.__name__ for item in get_args(member) if isinstance(item, type)]
    name = getattr(member, "__name__", "union")
    return " or ".join(models) or (f"{name}[{items[0]}]" if items else str(name))


def _parses(member: type[BaseModel], payload: dict[str, Any]) -> bool:
    try:
        member.model_validate(payload)
    except ValidationError:
        return False
    return True
