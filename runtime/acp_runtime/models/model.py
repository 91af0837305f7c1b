"""The base of every generated model: strict when built, lenient when parsed, lossless in a round trip.

Owns how a model is constructed, parsed and dumped. Knows nothing of ACP: which fields exist, what they are
called on the wire and how forgiving each one is comes from the generated classes, whose annotations use
`acp_runtime.models.markers` and `acp_runtime.models.scalars`.

Two doors lead in, and they differ on purpose:

* the constructor is Python's door: snake_case keywords, exact types, nothing unknown. A mistake raises;
* `model_validate_json` (and `model_validate` for JSON that is already decoded) is the wire's door: wire names,
  unknown keys are kept, and a field that the schema calls salvageable gives way instead of failing the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.absent import ABSENT
from acp_runtime.models.argument_errors import explain_argument_errors
from acp_runtime.models.constructors import Build, shallow_serializer, tags_of
from acp_runtime.models.generated import is_generated_field
from acp_runtime.models.names import wire_name
from acp_runtime.models.optional import with_plain_defaults
from acp_runtime.models.parsing import use_json_side
from acp_runtime.models.schema_context import (
    completing,
    for_user_code,
    held_by,
    is_for_user_code,
    was_made_for_user_code,
)
from acp_runtime.models.schema_sides import instance_schema, is_constructed

T = TypeVar("T", bound=str)

_rebuild = older_pydantic.model_rebuild(shallow_serializer)


def tag(value: T) -> T:
    """Declare the field that tells a union's members apart.

    It is constant, required on the wire and filled in by the constructor.
    """
    return cast("T", Field(default=..., json_schema_extra={"x-tag": True, "const": value}))


if TYPE_CHECKING:
    from acp_runtime.models.pydantic_internals import ModelMetaclass

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _ModelMeta(ModelMetaclass):
        """Tells type checkers what `frozen` in a configuration doesn't: no field is assigned to, in any subclass."""

else:
    from acp_runtime.models.assignments import assign, is_handled_here
    from acp_runtime.models.lazy_classes import ModelMeta as _ModelMeta
    from acp_runtime.models.lazy_classes import build


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
        try:
            self._acp_build(data, self_instance=self)
        except ValidationError as error:
            raise explain_argument_errors(type(self), error, data) from None

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
        with held_by(cls):
            schema = handler.resolve_ref_schema(handler(source))
        if is_constructed(cls):
            return schema
        use_json_side(cls, schema)
        return for_user_code(cls, schema) if is_for_user_code(cls) else schema

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(with_plain_defaults(schema))

    if not TYPE_CHECKING:  # type checkers know every attribute, and pydantic's signatures

        @classmethod
        @wraps(BaseModel.model_rebuild.__func__)
        def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **options: Any) -> bool | None:  # noqa: D102
            with completing(cls):
                return _rebuild(cls, _parent_namespace_depth=_parent_namespace_depth + 1, **options)

        @classmethod
        def __pydantic_on_complete__(cls) -> None:
            super().__pydantic_on_complete__()
            if was_made_for_user_code(cls.__pydantic_core_schema__):  # pydantic has completed it by itself
                cls.model_rebuild(force=True)

        @classmethod
        @wraps(BaseModel.model_construct.__func__)
        def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:  # noqa: D102
            given = {name: value for name, value in values.items() if value is not ABSENT}
            fields = cls.model_fields
            tags = {name: tag for name, tag in tags_of(cls).items() if not {name, fields[name].alias} & given.keys()}
            made = super().model_construct(_fields_set, **tags, **given)
            for name, field in fields.items():
                if is_generated_field(cls, name) and not {name, field.alias} & (tags.keys() | given.keys()):
                    made.__dict__.pop(name, None)  # absent, which is not the same as null
            return made

        @wraps(BaseModel.model_copy)
        def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:  # noqa: D102
            made = super().model_copy(update=update, deep=deep)
            for name in [name for name, value in (update or {}).items() if value is ABSENT]:
                for held in (made.__dict__, made.__pydantic_extra__ or {}):
                    held.pop(name, None)
                made.__pydantic_fields_set__.discard(name)
            return made

        @wraps(BaseModel.model_dump)
        def model_dump(self, **options: Any) -> dict[str, Any]:  # noqa: D102
            if options:
                _look_within(type(self), options)
            return super().model_dump(**options)

        @wraps(BaseModel.model_dump_json)
        def model_dump_json(self, **options: Any) -> str:  # noqa: D102
            if options:
                _look_within(type(self), options)
            return super().model_dump_json(**options)

        def __setstate__(self, state: dict[Any, Any]) -> None:
            build(type(self))  # pickle makes an instance without asking its class anything
            super().__setstate__(state)

        def __setattr__(self, name: str, value: Any) -> None:
            if is_handled_here(self, name, value):
                assign(self, name, value)
            else:
                super().__setattr__(name, value)

        def __getattr__(self, name: str) -> Any:
            """What isn't in the instance: the fields that are absent, then unknown attributes."""
            field = type(self).__pydantic_fields__.get(name)
            if field is None:
                return super().__getattr__(name)
            if field.default is None:
                return None
            return [] if field.is_required() else field.get_default(call_default_factory=True)


def _look_within(cls: type[Model], options: dict[str, Any]) -> None:
    """Have pydantic complete a class if parts of what its instances hold are left out: `constructors` don't do that."""
    if options.get("include") is not None or options.get("exclude") is not None:
        cls.model_rebuild()


class OpenModel(Model):
    """An object with room for keys the schema does not name, such as the variant that a union has no name for.

    The payload is in `model_extra` under its wire names; the constructor takes it as further keywords.
    """

    __acp_open__ = True

    if not TYPE_CHECKING:  # type checkers know every argument

        def __init__(self, /, **data: Any) -> None:
            super().__init__(**{name: value for name, value in data.items() if value is not ABSENT})

        __init__.__pydantic_base_init__ = True
