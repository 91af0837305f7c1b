"""The base of every generated model: strict when built, lenient when parsed, lossless in a round trip.

Owns how a model is constructed, parsed and dumped. Knows nothing of ACP: which fields exist, what they are
called on the wire and how forgiving each one is comes from the generated classes, whose annotations use
`acp_runtime.markers` and `acp_runtime.scalars`.

Two doors lead in, and they differ on purpose:

* the constructor is Python's door: snake_case keywords, exact types, nothing unknown. A mistake raises;
* `model_validate_json` (and `model_validate` for JSON that is already decoded) is the wire's door: wire names,
  unknown keys are kept, and a field that the schema calls salvageable gives way instead of failing the message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import to_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime import older_pydantic
from acp_runtime.absent import ABSENT, with_plain_defaults
from acp_runtime.constructors import Build
from acp_runtime.parsers import parse_as_on_the_wire
from acp_runtime.views import instance_schema, is_constructed

T = TypeVar("T", bound=str)


def wire_name(name: str) -> str:
    """The JSON key of a Python attribute: `session_id` is `sessionId`, `meta` is `_meta`, `from_` is `from`.

    This is the whole rule. The generator refuses a schema key that it can't reach this way.
    """
    return "_meta" if name == "meta" else to_camel(name.removesuffix("_"))


def tag(value: T) -> T:
    """Declare the field that tells a union's members apart.

    It is constant, required on the wire and filled in by the constructor.
    """
    return cast("T", Field(default=..., json_schema_extra={"x-tag": True, "const": value}))


if TYPE_CHECKING:
    from acp_runtime.pydantic_internals import ModelMetaclass

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _ModelMeta(ModelMetaclass):
        """Tells type checkers what `frozen` in a configuration doesn't: no field is assigned to, in any subclass."""

else:
    from acp_runtime.lazy_classes import ModelMeta as _ModelMeta


class Model(
    BaseModel,
    metaclass=_ModelMeta,
    alias_generator=wire_name,
    defer_build=True,
    extra="allow",
    frozen=True,
    protected_namespaces=(),
    serialize_by_alias=True,
    strict=True,
):
    """A message or a part of one.

    Instances are values: immutable, equal when they would be the same JSON. An optional field has three states:
    absent (left alone, not dumped), null (`None` passed explicitly, where the schema allows it) and set.
    Reading an absent field gives the schema's default, an empty list or mapping, or `None`.
    """

    # Whether keywords that are no fields are kept; and what builds an instance, which each class has its own of.
    # pydantic evaluates annotations that it finds here for each of all classes.
    if TYPE_CHECKING:
        __acp_open__: ClassVar[bool]
        _acp_build: ClassVar[Build]
    else:
        __acp_open__ = False

    def __init__(self, /, **data: Any) -> None:
        """Take the fields by the names of attributes.

        Raises:
            ValidationError: if one is missing, unknown or of another type.
        """
        type(self)._acp_build(data, self_instance=self)

    # Tells pydantic that parsing need not go through `__init__`.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    def __hash__(self) -> int:
        """Raises a `TypeError` for what holds a list or a mapping."""
        fields = type(self).__pydantic_fields__
        held = self.__dict__
        if not held.keys() <= fields.keys():  # a cached property is no part of the value
            held = {name: value for name, value in held.items() if name in fields}
        return hash((frozenset(held.items()), frozenset((self.__pydantic_extra__ or {}).items())))

    def __dir__(self) -> Iterable[str]:
        """Fields that are absent included."""
        return sorted({*super().__dir__(), *type(self).__pydantic_fields__})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if (instance := instance_schema(cls)) is not None:
            return cast("CoreSchema", instance)
        schema = handler(source)
        if not is_constructed(cls):
            parse_as_on_the_wire(cls, handler.resolve_ref_schema(schema))
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(with_plain_defaults(schema))

    @classmethod
    def model_validate(cls, obj: Any, **kwargs: Any) -> Self:
        """Parse JSON that is already decoded, by the same rules as `model_validate_json`.

        An instance of this class is returned as it is.
        """
        return obj if isinstance(obj, cls) else cls.model_validate_json(to_json(obj), **kwargs)

    if not TYPE_CHECKING:  # type checkers know every attribute

        def __getattr__(self, name: str) -> Any:
            """What isn't in the instance: the fields that are absent, then unknown attributes."""
            field = type(self).__pydantic_fields__.get(name)
            if field is None:
                return super().__getattr__(name)
            if field.default is None:
                return None
            return [] if field.is_required() else field.get_default(call_default_factory=True)


older_pydantic.adapt(Model)


class OpenModel(Model):
    """An object with room for keys the schema does not name, such as the variant that a union has no name for.

    The payload is in `model_extra` under its wire names; the constructor takes it as further keywords.
    """

    __acp_open__ = True

    if not TYPE_CHECKING:  # type checkers know every argument

        def __init__(self, /, **data: Any) -> None:
            super().__init__(**{name: value for name, value in data.items() if value is not ABSENT})

        __init__.__pydantic_base_init__ = True
