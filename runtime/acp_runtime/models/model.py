"""The base of every generated model: strict when built, lenient when parsed, lossless in a round trip.

There are two ways to make an instance, with different rules:

* The constructor is for Python code. It takes snake_case keywords with exact types, and refuses unknown ones.
* `model_validate_json`, and `model_validate` for decoded JSON, take JSON keys and keep unknown ones. Where the schema
  allows it, an invalid value falls back to the field's default instead of failing the message.

The fields, their JSON keys and their leniency come from the generated classes, whose annotations use
`acp_runtime.models.markers` and `acp_runtime.models.scalars`.
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
from acp_runtime.models.constructors import Build, shallow_serializer
from acp_runtime.models.generated import is_generated_field
from acp_runtime.models.instances_only import instance_schema, is_constructed
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
from acp_runtime.models.tags import tags_of

T = TypeVar("T", bound=str)

_rebuild = older_pydantic.model_rebuild(shallow_serializer)


def tag(value: T) -> T:
    """Declare a tag: the field with a constant value that tells the members of a union apart.

    JSON must have it. The constructor fills it in.
    """
    return cast("T", Field(default=..., json_schema_extra={"x-tag": True, "const": value}))


if TYPE_CHECKING:
    from acp_runtime.models.pydantic_internals import ModelMetaclass

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _ModelMeta(ModelMetaclass):
        """Tells type checkers that fields are frozen in all subclasses, which `frozen` in a configuration doesn't."""

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

    Instances are immutable, and equal if their JSON is the same. An optional field is absent (not given, and not
    dumped), null (given as `None`, where the schema allows null) or set. An absent field reads as the schema's default,
    an empty list or mapping, or `None`.
    """

    # Whether the constructor takes keywords that aren't fields; and the function that builds instances of this class.
    # Hidden from pydantic, which would evaluate these annotations again for each class.
    if TYPE_CHECKING:
        __acp_open__: ClassVar[bool]
        _acp_build: ClassVar[Build]
    else:
        __acp_open__ = False

    def __init__(self, /, **data: Any) -> None:
        """Build an instance from fields by the names of attributes.

        Raises:
            ValidationError: if a field is missing, unknown or of a wrong type.
        """
        try:
            self._acp_build(data, self_instance=self)
        except ValidationError as error:
            raise explain_argument_errors(type(self), error, data) from None

    # Tells pydantic that parsing needn't call `__init__`.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    def __hash__(self) -> int:
        """Return a hash that agrees with equality.

        Raises:
            TypeError: if a field holds a list or a mapping.
        """
        fields = type(self).__pydantic_fields__
        values = self.__dict__
        if not values.keys() <= fields.keys():  # it also holds cached properties
            values = {name: value for name, value in values.items() if name in fields}
        return hash((frozenset(values.items()), frozenset((self.__pydantic_extra__ or {}).items())))

    def __dir__(self) -> Iterable[str]:
        """List the attributes, including absent fields."""
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
            if was_made_for_user_code(cls.__pydantic_core_schema__):  # pydantic completed it without `completing`
                cls.model_rebuild(force=True)

        @classmethod
        @wraps(BaseModel.model_construct.__func__)
        def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:  # noqa: D102
            given = {name: value for name, value in values.items() if value is not ABSENT}
            fields = cls.model_fields
            tags = {name: tag for name, tag in tags_of(cls).items() if not {name, fields[name].alias} & given.keys()}
            instance = super().model_construct(_fields_set, **tags, **given)
            for name, field in fields.items():
                if is_generated_field(cls, name) and not {name, field.alias} & (tags.keys() | given.keys()):
                    instance.__dict__.pop(name, None)  # absent, not null
            return instance

        @wraps(BaseModel.model_copy)
        def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:  # noqa: D102
            copy = super().model_copy(update=update, deep=deep)
            for name in [name for name, value in (update or {}).items() if value is ABSENT]:
                for values in (copy.__dict__, copy.__pydantic_extra__ or {}):
                    values.pop(name, None)
                copy.__pydantic_fields_set__.discard(name)
            return copy

        @wraps(BaseModel.model_dump)
        def model_dump(self, **options: Any) -> dict[str, Any]:  # noqa: D102
            if options:
                _complete_for_filtering(type(self), options)
            return super().model_dump(**options)

        @wraps(BaseModel.model_dump_json)
        def model_dump_json(self, **options: Any) -> str:  # noqa: D102
            if options:
                _complete_for_filtering(type(self), options)
            return super().model_dump_json(**options)

        def __setstate__(self, state: dict[Any, Any]) -> None:
            build(type(self))  # pickle makes an instance without reading an attribute of its class
            super().__setstate__(state)

        def __setattr__(self, name: str, value: Any) -> None:
            if is_handled_here(self, name, value):
                assign(self, name, value)
            else:
                super().__setattr__(name, value)

        def __getattr__(self, name: str) -> Any:
            """Return the value that an absent field reads as. Raise an error for an unknown attribute."""
            field = type(self).__pydantic_fields__.get(name)
            if field is None:
                return super().__getattr__(name)
            if field.default is None:
                return None
            return [] if field.is_required() else field.get_default(call_default_factory=True)


def _complete_for_filtering(cls: type[Model], options: dict[str, Any]) -> None:
    """Complete a class before a dump with `include` or `exclude`, which the serializer of a constructor ignores."""
    if options.get("include") is not None or options.get("exclude") is not None:
        cls.model_rebuild()


class OpenModel(Model):
    """An object that may have keys unknown to the schema, such as an unknown variant of an open union.

    Unknown keys are in `model_extra`. The constructor takes them as keywords.
    """

    __acp_open__ = True

    if not TYPE_CHECKING:  # type checkers know every argument

        def __init__(self, /, **data: Any) -> None:
            super().__init__(**{name: value for name, value in data.items() if value is not ABSENT})

        __init__.__pydantic_base_init__ = True
