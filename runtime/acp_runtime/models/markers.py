"""Markers in generated annotations: leniency, null or absent, and the tags of open variants.

Each marker is used in an `Annotated[...]` and builds a pydantic-core schema, so that parsing seldom calls Python
functions. They are lenient only in lax validation; constructors validate strictly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, PydanticKnownError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.older_pydantic import MISSING

Change: TypeAlias = Callable[[CoreSchema], CoreSchema]


def lax_or_strict(lax: CoreSchema, strict: CoreSchema) -> CoreSchema:
    """Return a schema that is lenient when parsed (`lax`), even in a strict class, and strict when built."""
    return core_schema.lax_or_strict_schema(lax, strict, strict=False)


def in_order(choices: list[Any], **error: Any) -> CoreSchema:
    """Return the schema of a union whose alternatives are tried in order."""
    return core_schema.union_schema(choices, mode="left_to_right", **error)


class SourceRepr:
    """A base whose `repr` is as in the source: the name of the class, and the arguments."""

    def __repr__(self) -> str:
        arguments = ", ".join(map(repr, vars(self).values()))
        return type(self).__name__.lstrip("_") + (f"({arguments})" if arguments else "")


class _Marker:
    """A marker that changes how a type is parsed, how it is built, or both."""

    def __init__(
        self, name: str, *, parsed: Change = lambda schema: schema, built: Change = lambda schema: schema
    ) -> None:
        self._name = name
        self._parsed = parsed
        self._built = built

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return lax_or_strict(self._parsed(schema), self._built(schema))

    def __repr__(self) -> str:
        return self._name


def _absent() -> Any:
    return MISSING


def _on_error(make: Callable[[], Any]) -> Change:
    return lambda schema: core_schema.with_default_schema(schema, default_factory=make, on_error="default")


def _on_null(make: Callable[[], Any]) -> Change:
    def fill(value: Any) -> Any:
        return make() if value is None else value

    return lambda schema: core_schema.no_info_after_validator_function(fill, core_schema.nullable_schema(schema))


def _skip_items(schema: Any) -> CoreSchema:
    if schema["type"] == "nullable":
        return core_schema.nullable_schema(_skip_items(schema["schema"]))
    if schema["type"] != "list":
        raise TypeError(f"SkipInvalidItems needs a list, found {schema['type']!r}")
    item = core_schema.with_default_schema(schema["items_schema"], on_error="omit")
    return cast("CoreSchema", {**schema, "items_schema": item})


def _not_null(schema: Any) -> CoreSchema:
    if schema["type"] != "nullable":
        raise TypeError(f"NotNull needs an optional type, found {schema['type']!r}")
    return cast("CoreSchema", schema["schema"])


def _null_is_absent(schema: Any) -> CoreSchema:
    return _on_null(_absent)(_not_null(schema))


def _no_text(value: Any) -> Any:
    if isinstance(value, str):
        raise PydanticCustomError("no_tag", "Input should be null or left out")
    return value


def _no_tag(schema: CoreSchema) -> CoreSchema:
    none_or_text = core_schema.union_schema([schema, core_schema.str_schema()])
    return core_schema.no_info_after_validator_function(_no_text, _on_error(_absent)(none_or_text))


DefaultOnError: Final = _Marker("DefaultOnError", parsed=_on_error(_absent))
"""`x-deserialize-default-on-error`: an invalid value counts as absent."""
EmptyOnError: Final = _Marker("EmptyOnError", parsed=_on_error(list))
"""`x-deserialize-default-on-error` of a required list: an invalid value is an empty list."""
SkipInvalidItems: Final = _Marker("SkipInvalidItems", parsed=_skip_items)
"""`x-deserialize-skip-invalid-items`: invalid items are left out, the others keep their order."""
DefaultOnNull: Final = _Marker("DefaultOnNull", parsed=_on_null(_absent))
"""`x-deserialize-default-on-null`: null counts as absent. Any other invalid value is an error."""
EmptyOnNull: Final = _Marker("EmptyOnNull", parsed=_on_null(list))
"""`x-deserialize-default-on-null` of a required list: null is an empty list."""
NotNull: Final = _Marker("NotNull", parsed=_not_null, built=_null_is_absent)
"""An optional field that JSON may leave out, but not set to null. `None` as an argument leaves it out."""
NoTag: Final = _Marker("NoTag", parsed=_no_tag)
"""The tag of a variant that has none: null or absent. In JSON, any other value but a string counts as absent."""


class _EmptyOnMissing(SourceRepr):
    """Gives a missing value to the parser as an empty list, and refuses it in a constructor."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        parsed = core_schema.no_info_before_validator_function(_empty_if_missing, schema)
        built = core_schema.no_info_before_validator_function(_refuse_missing, schema)
        return core_schema.with_default_schema(lax_or_strict(parsed, built), default=MISSING, validate_default=True)


def _empty_if_missing(value: Any) -> Any:
    return [] if value is MISSING else value


def _refuse_missing(value: Any) -> Any:
    if value is MISSING:
        raise PydanticKnownError("missing")
    return value


EmptyOnMissing: Final = _EmptyOnMissing()
"""A required list that a peer may leave out, because upstream's pages say so: JSON without it has an empty list."""


class OtherThan:
    """The tag of an unknown variant: any string except the tags that the schema knows or reserves."""

    def __init__(self, *known: str) -> None:
        self.known: frozenset[str] = frozenset(known)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __repr__(self) -> str:
        return f"OtherThan({', '.join(map(repr, sorted(self.known)))})"

    def _check(self, value: str) -> str:
        if value in self.known:
            message = "Input should not be '{tag}', a tag that has its own model"
            raise PydanticCustomError("known_tag", message, {"tag": value})
        return value
