"""The scalar types of the schema: integers with a range, numbers, and strings with a format.

Type checkers see `int`, `float` and `str`. Integers accept the JSON number `1.0`, as the schema does. Numbers keep
integers as integers, so that a round trip loses nothing. The format of a string is documentation and isn't checked,
which is the default of JSON Schema 2020-12.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, TypeAlias, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, Tag
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticKnownError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.markers import SourceRepr, in_order, lax_or_strict


def _as_integer(value: float) -> float:
    return int(value) if value.is_integer() else value


class _Range(SourceRepr):
    def __init__(self, minimum: float | None = None, maximum: float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum


class Integer(_Range):
    """A whole number from `minimum` to `maximum`, both inclusive."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Lax integers would also be strings and booleans, and no floats of 64 bits.
        exact = core_schema.no_info_after_validator_function(_as_integer, core_schema.float_schema(strict=True))
        number = in_order([core_schema.int_schema(strict=True), exact], custom_error_type="int_type")
        whole: list[CoreSchema] = [number, core_schema.int_schema(strict=False, **self._range)]
        return lax_or_strict(core_schema.chain_schema(whole), core_schema.int_schema(**self._range))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core_schema.int_schema(**self._range))

    @property
    def _range(self) -> Any:
        return {"ge": self.minimum, "le": self.maximum}


class Number(_Range):
    """A finite number from `minimum` to `maximum`, both inclusive."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        whole = core_schema.int_schema(
            strict=True,
            ge=None if self.minimum is None else math.ceil(self.minimum),
            le=None if self.maximum is None else math.floor(self.maximum),
        )
        number = core_schema.float_schema(strict=True, ge=self.minimum, le=self.maximum, allow_inf_nan=False)
        message = f"Input should be {self._describe()}"
        return in_order([whole, number], custom_error_type="number", custom_error_message=message)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core_schema.float_schema(ge=self.minimum, le=self.maximum))

    def _describe(self) -> str:
        bounds = {"greater than or equal to": self.minimum, "less than or equal to": self.maximum}
        limits = [f"{words} {bound}" for words, bound in bounds.items() if bound is not None]
        return " ".join(["a number", " and ".join(limits)]).rstrip()


class _Exact(SourceRepr):
    """Marks constants that include 0, 1 or a boolean: `True` equals 1 in Python, but not in JSON."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        constants = get_args(source)

        def check(value: Any) -> Any:
            for constant in constants:
                if constant == value and isinstance(constant, bool) == isinstance(value, bool):
                    return constant
            raise PydanticKnownError("literal_error", {"expected": " or ".join(map(repr, constants))})

        return core_schema.no_info_before_validator_function(check, handler(source))


Exact: Final = _Exact()

# How the path of an error in a union names them.
_LABEL = Tag("int")

Int8: TypeAlias = Annotated[int, Integer(-(2**7), 2**7 - 1), _LABEL]
Int16: TypeAlias = Annotated[int, Integer(-(2**15), 2**15 - 1), _LABEL]
Int32: TypeAlias = Annotated[int, Integer(-(2**31), 2**31 - 1), _LABEL]
Int64: TypeAlias = Annotated[int, Integer(-(2**63), 2**63 - 1), _LABEL]
Uint8: TypeAlias = Annotated[int, Integer(0, 2**8 - 1), _LABEL]
Uint16: TypeAlias = Annotated[int, Integer(0, 2**16 - 1), _LABEL]
Uint32: TypeAlias = Annotated[int, Integer(0, 2**32 - 1), _LABEL]
Uint64: TypeAlias = Annotated[int, Integer(0, 2**64 - 1), _LABEL]
Double: TypeAlias = Annotated[float, Number()]

Base64: TypeAlias = str
"""Binary data, base64-encoded; not checked."""
DateTime: TypeAlias = str
"""A date and time (RFC 3339); not checked."""
Regex: TypeAlias = str
"""A regular expression (ECMA-262); not checked."""
Uri: TypeAlias = str
"""A URI (RFC 3986); not checked."""
