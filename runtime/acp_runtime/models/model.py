"""The base of every generated model: strict when built, lenient when parsed, lossless in a round trip.

There are two ways to make an instance, with different rules:

* The constructor is for Python code. It takes snake_case keywords with exact types, and refuses unknown ones.
* `model_validate_json`, and `model_validate` for decoded JSON, take JSON keys and keep unknown ones. Where the schema
  allows it, an invalid value falls back to the field's default instead of failing the message.

Both use pydantic's validator of the class. The constructor asks it for strict validation by name, and the markers in
the annotations (`acp_runtime.models.markers`) are lenient only without that.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta
from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast, dataclass_transform

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.absent import ABSENT, AbsentDefault, AbsentField
from acp_runtime.models.errors import explain_arguments
from acp_runtime.models.fail_fast import stop_at_first_error
from acp_runtime.models.json_values import wire_name
from acp_runtime.models.older_pydantic import CAN_DEFER, COMPARES_EXTRA, adapt
from acp_runtime.models.signatures import ModelSignature
from acp_runtime.models.union_members import tags_of

T = TypeVar("T", bound=str)
M = TypeVar("M", bound="Model")

_SIGNATURE: Any = ModelSignature()


def tag(value: T) -> T:
    """Declare a tag: the field with a constant value that tells the members of a union apart.

    JSON must have it. The constructor fills it in.
    """
    return cast("T", Field(default=..., json_schema_extra={"x-tag": True, "const": value}))


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _ModelMeta(ABCMeta):
        """Tells pyright that fields are frozen in all subclasses, as the decorator below tells mypy."""

else:
    _ModelMeta = type(BaseModel)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
class Model(  # type: ignore[metaclass]  # pyright: ignore[reportGeneralTypeIssues]
    BaseModel,
    metaclass=_ModelMeta,
    alias_generator=wire_name,
    defer_build=CAN_DEFER,
    extra="allow",
    frozen=True,
    protected_namespaces=(),
    ser_json_inf_nan="constants",
    serialize_by_alias=True,
    strict=True,
):
    """A message or a part of one.

    Instances are immutable, and equal if their JSON is the same. An optional field is absent (not given, and not
    dumped), null (given as `None`, where the schema allows null) or set. An absent field reads as the schema's default,
    an empty list or mapping, or `None`.
    """

    if TYPE_CHECKING:
        __acp_is_open__: ClassVar[bool]
        """Whether the constructor takes keywords that aren't fields, unless a subclass is configured otherwise."""
        __acp_unknown__: ClassVar[Literal["allow", "forbid", "ignore"] | None]
        """What the constructor does with keywords that aren't fields."""
        __acp_needs_extra__: ClassVar[bool]
        """Whether an instance needs a dict of unknown keys even if there are none."""
        __acp_tags__: ClassVar[dict[str, Any]]
        """The tags, which the constructor fills in."""
    else:  # without annotations, which pydantic would evaluate again for each subclass
        __acp_is_open__ = False
        __acp_unknown__ = "forbid"
        __acp_needs_extra__ = False
        __acp_tags__ = {}
        __signature__ = _SIGNATURE

    def __init__(self, /, **data: Any) -> None:
        """Build an instance from fields by the names of attributes.

        Raises:
            ValidationError: if a field is missing, unknown or of a wrong type.
        """
        tags = self.__acp_tags__
        try:
            built = self.__pydantic_validator__.validate_python(
                {**tags, **data} if tags else data,
                self_instance=self,
                strict=True,
                extra=self.__acp_unknown__,
                by_name=True,
                by_alias=False,
            )
        except ValidationError as error:
            _build_again(self, data, error)
        else:
            if built is not self:
                text = f"A validator of {type(self).__name__} is returning a value other than `self`."
                warnings.warn(f"{text} A constructor can't: modify `self` and return it instead.", stacklevel=2)
        if self.__acp_needs_extra__ and self.__pydantic_extra__ is None:
            object.__setattr__(self, "__pydantic_extra__", {})

    # Tells pydantic that parsing needn't call `__init__`.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    if not TYPE_CHECKING:  # type checkers know it of every class like a dataclass

        def __replace__(self, /, **changes: Any) -> Model:
            return replace(self, **changes)

    @classmethod
    def __pydantic_init_subclass__(cls, **keywords: Any) -> None:
        super().__pydantic_init_subclass__(**keywords)
        for name, field in cls.__pydantic_fields__.items():
            if isinstance(field.json_schema_extra, AbsentDefault):
                setattr(cls, name, AbsentField(name, field.json_schema_extra.make))
        cls.__acp_tags__ = tags_of(cls)
        extra = cls.model_config.get("extra")
        cls.__acp_needs_extra__ = extra == "allow" and (COMPARES_EXTRA or not cls.model_config.get("frozen"))
        cls.__acp_unknown__ = extra if extra != "allow" or cls.__acp_is_open__ else "forbid"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        path: list[Any] = [handler.resolve_ref_schema(schema)]
        while path[-1]["type"] != "model":  # inside a user's validators
            path.append(path[-1]["schema"])
        stop_at_first_error(path[-1])
        adapt(path)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> dict[str, Any]:
        from acp_runtime.models.descriptions import describe

        made = handler(schema)
        describe(cls, handler.resolve_ref_schema(made).get("properties", {}))
        return made

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        super().__pydantic_on_complete__()
        cls.__signature__ = _SIGNATURE  # pydantic has set its own

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with other values of fields if `update` has any. They are validated, as by `replace`.

        Args:
            update: new values by the names of attributes.
            deep: copy the values of all other fields, too.

        Raises:
            ValidationError: if a field is missing, unknown or of a wrong type.
        """
        copied = super().model_copy(deep=deep)
        if not update:
            return copied
        changed = replace(copied, **update)
        object.__setattr__(changed, "__pydantic_private__", copied.__pydantic_private__)
        return changed

    @property
    def model_extra(self) -> dict[str, Any]:
        """The values of unknown keys."""
        return self.__pydantic_extra__ or {}

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the fields that were given, and of unknown keys. An invalid value that fell back isn't given."""
        return {name for name in super().model_fields_set if self.__dict__.get(name) is not ABSENT}

    def __iter__(self) -> Generator[tuple[str, Any]]:
        """Yield the fields that aren't absent, by name."""
        return ((name, value) for name, value in super().__iter__() if value is not ABSENT)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return [(name, value) for name, value in super().__repr_args__() if value is not ABSENT]


def replace(model: M, /, **changes: Any) -> M:
    """Return a copy of a model with other values of fields, validated by its constructor.

    For example:

        replace(call, status="completed", content=ABSENT)

    `copy.replace` of Python 3.13 does the same. Other fields stay as they are, including absent ones and unknown keys.
    So does a list that is empty because the parser left out its invalid items, even if the constructor refuses an empty
    list. A subclass's private attributes and its own defaults are set again.

    Args:
        model: the model, which isn't changed.
        changes: new values by the names of attributes. `ABSENT` removes a field.

    Raises:
        ValidationError: if a field is missing, unknown or of a wrong type. If the model was parsed from invalid JSON,
            it can be a field that isn't changed.
    """
    fields = type(model).__pydantic_fields__
    given = {
        name: model.__dict__[name]
        for name, field in fields.items()
        if name in model.model_fields_set or (field.is_required() and name in model.__dict__)
    } | changes
    values = {name: value for name, value in given.items() if value is not ABSENT or name not in fields}
    try:
        built = type(model)(**values)
    except ValidationError as error:
        refused = {fault["loc"][:1] for fault in error.errors()}
        emptied = {(name,) for name, value in values.items() if value == [] and name not in changes}
        if not refused <= emptied:
            raise
        # The changed fields are valid, so this is lenient only with the emptied ones.
        tagged = {**type(model).__acp_tags__, **values}
        built = type(model).__pydantic_validator__.validate_python(tagged, by_name=True, by_alias=False)
    kept = {name: value for name, value in model.model_extra.items() if name in fields or name not in changes}
    if kept:
        object.__setattr__(built, "__pydantic_extra__", kept | built.model_extra)
        built.__pydantic_fields_set__.update(kept)
    return built


def _build_again(instance: Model, data: dict[str, Any], error: ValidationError) -> None:
    """Build an instance from arguments that need a conversion: tuples, `ABSENT`, aliases of a subclass.

    Raises:
        ValidationError: if they remain invalid.
    """
    fields = type(instance).__pydantic_fields__
    given = {name: value for name, value in data.items() if value is not ABSENT or name not in fields}
    for name, field in fields.items():
        alias = str(field.validation_alias)  # which may be several aliases or a path
        if field.alias_priority == 2 and alias in given and alias not in fields and name not in data:
            given[name] = given.pop(alias)
    for fault in error.errors(include_url=False):
        name = str(next(iter(fault["loc"]), ""))
        items: tuple[Any, ...] = fault["input"]
        if fault["type"] == "list_type" and type(items) is tuple and items is given.get(name):
            given[name] = [*items]
    if given != data:
        Model.__init__(instance, **given)
    elif instance.__pydantic_custom_init__:  # pydantic calls it with parsed JSON, too
        tags = {name: tag for name, tag in instance.__acp_tags__.items() if wire_name(name) not in data}
        instance.__pydantic_validator__.validate_python({**tags, **data}, self_instance=instance, by_name=True)
    else:
        raise explain_arguments(type(instance), error, data) from None


class OpenModel(Model):
    """An object that may have keys unknown to the schema, such as an unknown variant of an open union.

    Unknown keys are in `model_extra`. The constructor takes them as keywords.
    """

    if not TYPE_CHECKING:  # type checkers know every argument
        __acp_is_open__ = True

        def __init__(self, /, **data: Any) -> None:
            super().__init__(**{name: value for name, value in data.items() if value is not ABSENT})

        __init__.__pydantic_base_init__ = True
