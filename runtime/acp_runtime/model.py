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

from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, dataclass_transform

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema, to_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.absent import leave_out_when_absent, with_plain_defaults
from acp_runtime.first_errors import stop_at_first_error
from acp_runtime.lazy_fields import collect_fields

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


class _Keywords(dict[str, Any]):
    """What a constructor was called with. From Python nothing else becomes a model, not even a dict that would do."""


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _ModelMeta(ModelMetaclass):
        """Tells type checkers what `frozen` in a configuration doesn't: no field is assigned to, in any subclass."""

else:
    from acp_runtime.lazy_fields import LazyFieldsMeta as _ModelMeta


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

    def __init__(self, /, **data: Any) -> None:
        cls = type(self)
        cls.__pydantic_validator__.validate_python(
            _Keywords(_tags(cls), **data),
            self_instance=self,
            extra="allow" if issubclass(cls, OpenModel) else "forbid",
            by_alias=False,
            by_name=True,
        )

    # Tells pydantic that parsing need not go through `__init__`.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        collect_fields(cls)
        schema = handler(source)
        model: Any = handler.resolve_ref_schema(schema)
        if model["schema"]["type"] == "model-fields":
            for field in model["schema"]["fields"].values():
                stop_at_first_error(field["schema"])
                field["schema"] = leave_out_when_absent(field["schema"])
            from_python = [core_schema.is_instance_schema(_Keywords, cls_repr=cls.__name__), model["schema"]]
            model["schema"] = core_schema.json_or_python_schema(model["schema"], core_schema.chain_schema(from_python))
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


class OpenModel(Model):
    """An object with room for keys the schema does not name, such as the variant that a union has no name for.

    The payload is in `model_extra` under its wire names; the constructor takes it as further keywords.
    """


def _tags(cls: type[Model]) -> dict[str, Any]:
    """The constant tags of a class by attribute, worked out when its first instance is built."""
    tags: dict[str, Any] | None = cls.__dict__.get("_tag_values")
    if tags is None:
        extras = {name: field.json_schema_extra for name, field in cls.model_fields.items()}
        tags = {name: extra["const"] for name, extra in extras.items() if isinstance(extra, dict) and "x-tag" in extra}
        type.__setattr__(cls, "_tag_values", tags)
    return tags
