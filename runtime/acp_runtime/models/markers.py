"""Markers in generated annotations: leniency, null or absent, and the tags of open variants.

Each marker is used in an `Annotated[...]` and builds a pydantic-core schema, so that parsing seldom calls Python
functions. Only the JSON side is lenient; the Python side is strict.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.optional import null_argument_is_absent, null_is_absent


def _for_json(lenient: CoreSchema, strict: CoreSchema) -> CoreSchema:
    return core_schema.json_or_python_schema(lenient, strict)


class _DefaultOnError:
    """`x-deserialize-default-on-error`: an invalid value in JSON counts as absent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(core_schema.with_default_schema(schema, on_error="omit"), schema)

    def __repr__(self) -> str:
        return "DefaultOnError"


class _SkipInvalidItems:
    """`x-deserialize-skip-invalid-items`: invalid items in JSON are left out, the others keep their order."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(_skip_items(schema), schema)

    def __repr__(self) -> str:
        return "SkipInvalidItems"


class _DefaultOnNull:
    """`x-deserialize-default-on-null`: null in JSON counts as absent. Any other invalid value is an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return _for_json(null_is_absent(schema), schema)

    def __repr__(self) -> str:
        return "DefaultOnNull"


class _NotNull:
    """An optional field that may be left out of JSON but not be null.

    An absent field reads as `None`, and passing `None` to a constructor leaves it out.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "nullable":
            raise TypeError(f"NotNull needs an optional type, found {source!r}")
        return _for_json(schema["schema"], null_argument_is_absent(schema["schema"]))

    def __repr__(self) -> str:
        return "NotNull"


class _NoTag:
    """The tag of a variant that has none: null or absent. In JSON, any other value but a string counts as absent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        none = core_schema.none_schema()
        none_or_text = core_schema.union_schema([none, core_schema.str_schema(strict=True)])
        lenient = core_schema.with_default_schema(none_or_text, on_error="omit")
        return _for_json(core_schema.chain_schema([lenient, none]), none)

    def __repr__(self) -> str:
        return "NoTag"


DefaultOnError: Final = _DefaultOnError()
SkipInvalidItems: Final = _SkipInvalidItems()
DefaultOnNull: Final = _DefaultOnNull()
NotNull: Final = _NotNull()
NoTag: Final = _NoTag()


class OtherThan:
    """The tag of an unknown variant: any string except the tags that the schema knows."""

    def __init__(self, *known: str) -> None:
        self.known: frozenset[str] = frozenset(known)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __repr__(self) -> str:
        return f"OtherThan({', '.join(map(repr, sorted(self.known)))})"

    def _check(self, value: str) -> str:
        if value in self.known:
            raise PydanticCustomError(
                "known_tag", "Input should not be '{tag}', a tag that has its own model", {"tag": value}
            )
        return value


def _skip_items(schema: CoreSchema) -> CoreSchema:
    if schema["type"] == "nullable":
        return {**schema, "schema": _skip_items(schema["schema"])}
    if schema["type"] != "list" or "items_schema" not in schema:
        raise TypeError(f"SkipInvalidItems needs a list, found {schema['type']!r}")
    item = core_schema.with_default_schema(schema["items_schema"], on_error="omit")
    return {**schema, "items_schema": item}
