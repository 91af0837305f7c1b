"""What generated annotations say beyond their types: leniency, unions by tag, null against absent.

Each marker stands in an `Annotated[...]` and builds the pydantic-core schema that does what it says, so that
parsing never calls back into Python. Leniency is on the JSON side only; Python's side stays strict.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, ValidationError
from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema, SerSchema

from acp_runtime.views import dumps_itself, instance_schema

# A null that is to count as absent: matches null alone, then drops the field (`None` is no int, and that failure is
# omitted).
_NULL_IS_ABSENT = core_schema.chain_schema(
    [
        core_schema.none_schema(),
        core_schema.with_default_schema(core_schema.int_schema(strict=True), on_error="omit"),
    ]
)

# The label of a choice's errors, and the choice.
Choice: TypeAlias = tuple[str, CoreSchema]

_BY_VALUE = core_schema.simple_ser_schema("any")


def _for_json(lenient: CoreSchema, strict: CoreSchema) -> CoreSchema:
    return core_schema.json_or_python_schema(lenient, strict)


class _DefaultOnError:
    """`x-deserialize-default-on-error`: on the wire an invalid value counts as absent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(core_schema.with_default_schema(schema, on_error="omit"), schema)

    def __repr__(self) -> str:
        return "DefaultOnError"


class _SkipInvalidItems:
    """`x-deserialize-skip-invalid-items`: on the wire an invalid item is left out, the others keep their order."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(_skip_items(schema), schema)

    def __repr__(self) -> str:
        return "SkipInvalidItems"


class _DefaultOnNull:
    """`x-deserialize-default-on-null`: on the wire a null counts as absent, any other bad value is an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(_or_absent(schema), schema)

    def __repr__(self) -> str:
        return "DefaultOnNull"


class _NotNull:
    """An optional field that the wire may leave out but not set to null.

    `None` is what reading it gives when it is absent; passing `None` to a constructor leaves it out.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "nullable":
            raise TypeError(f"NotNull stands on an optional type, found {source!r}")
        return _for_json(schema["schema"], _or_absent(schema["schema"]))

    def __repr__(self) -> str:
        return "NotNull"


class _NoTag:
    """The tag of the variant that has none: null or absent; on the wire anything but a string counts as absent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        none = core_schema.none_schema()
        none_or_text = core_schema.union_schema([none, core_schema.str_schema(strict=True)])
        salvaged = core_schema.with_default_schema(none_or_text, on_error="omit")
        return _for_json(core_schema.chain_schema([salvaged, none]), none)

    def __repr__(self) -> str:
        return "NoTag"


DefaultOnError: Final = _DefaultOnError()
SkipInvalidItems: Final = _SkipInvalidItems()
DefaultOnNull: Final = _DefaultOnNull()
NotNull: Final = _NotNull()
NoTag: Final = _NoTag()


class OtherThan:
    """The tag of a variant that the schema does not name: any string but those of the variants it does name."""

    def __init__(self, *known: str) -> None:
        self.known: frozenset[str] = frozenset(known)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __repr__(self) -> str:
        return f"OtherThan({', '.join(map(repr, sorted(self.known)))})"

    def _check(self, value: str) -> str:
        if value in self.known:
            raise PydanticCustomError("known_tag", "Input should not be a tag that has a variant of its own")
        return value


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
        from acp_runtime.model import wire_name

        leaves = _leaves_of_union(source)
        if (instance := instance_schema(*leaves)) is not None:
            return cast("CoreSchema", instance)
        tagged: dict[str, CoreSchema] = {}
        others: list[Choice] = []
        for member in members_of(source):
            schema = handler.generate_schema(member)
            tags = list(_tag_values(member, self.attribute))
            tagged.update(dict.fromkeys(tags, schema))
            others += [] if tags else [(_label(member), schema)]
        json = core_schema.tagged_union_schema(tagged, wire_name(self.attribute))
        python = core_schema.tagged_union_schema(tagged, self.attribute, from_attributes=True)
        return first_match([("<known tag>", _for_json(json, python)), *others], dumps_itself(tuple(leaves)))


class _FirstMatch:
    """A union without a tag: the first member that validates."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return first_match([(_label(member), handler.generate_schema(member)) for member in members_of(source)])

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
        return _for_json(core_schema.no_info_after_validator_function(check, schema), schema)

    def __repr__(self) -> str:
        return "ExactlyOne"


FirstMatch: Final = _FirstMatch()
ExactlyOne: Final = _ExactlyOne()


def members_of(union: Any) -> tuple[Any, ...]:
    """The members of a union. Python makes a union of one type that type."""
    return (union,) if isinstance(union, type) else get_args(union)


def leaves_of(alias: Any) -> list[type[BaseModel]]:
    """The models that a model, or a generated union of models, can be; none for anything else."""
    if get_origin(alias) is Annotated:
        return _leaves_of_union(get_args(alias)[0])
    return [alias] if isinstance(alias, type) and issubclass(alias, BaseModel) else []


def _leaves_of_union(union: Any) -> list[type[BaseModel]]:
    return [leaf for member in members_of(union) for leaf in leaves_of(member)]


def _or_absent(schema: CoreSchema) -> CoreSchema:
    return first_match([("<value>", schema), ("<null>", _NULL_IS_ABSENT)])


def first_match(choices: list[Choice], serialization: SerSchema = _BY_VALUE) -> CoreSchema:
    """The first choice that validates. Dumped by what the value is, if nothing else is said.

    A choice's label stands in the path of its errors, between angle brackets so that nobody takes it for a key.
    """
    return core_schema.union_schema(
        [(schema, label) for label, schema in choices], mode="left_to_right", serialization=serialization
    )


def _label(member: Any) -> str:
    name = getattr(member, "__name__", "union")
    items = [each.__name__ for each in get_args(member) if isinstance(each, type)]
    return f"<{name}[{items[0]}]>" if items else f"<{name}>"


def _skip_items(schema: CoreSchema) -> CoreSchema:
    if schema["type"] == "nullable":
        return {**schema, "schema": _skip_items(schema["schema"])}
    if schema["type"] != "list" or "items_schema" not in schema:
        raise TypeError(f"SkipInvalidItems stands on a list, found {schema['type']!r}")
    item = core_schema.with_default_schema(schema["items_schema"], on_error="omit")
    return {**schema, "items_schema": item}


def _tag_values(member: Any, attribute: str) -> Iterable[str]:
    """The constants that a union member, or every member of a nested union, has in its tag field."""
    for leaf in leaves_of(member):
        extra: Any = leaf.model_fields[attribute].json_schema_extra if attribute in leaf.model_fields else None
        if isinstance(extra, dict) and "x-tag" in extra:
            yield extra["const"]


def _parses(member: type[BaseModel], payload: str) -> bool:
    try:
        member.model_validate_json(payload)
    except ValidationError:
        return False
    return True
