"""The scalar types of the schema: integers with a range, numbers, and strings with a format.

Type checkers see `int`, `float` and `str`. Integers accept the JSON number `1.0`, as the schema does. Numbers keep
integers as integers, so that a round trip loses nothing. The format of a string is documentation and isn't checked,
which is the default of JSON Schema 2020-12.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema


class Integer:
    """A whole number from `minimum` to `maximum`, both inclusive."""

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def __repr__(self) -> str:
        return f"Integer({self.minimum}, {self.maximum})"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        strict = core_schema.int_schema(strict=True, ge=self.minimum, le=self.maximum)
        lenient = core_schema.chain_schema([_WHOLE_NUMBER_AS_INTEGER, strict])
        return core_schema.json_or_python_schema(lenient, strict, serialization=core_schema.simple_ser_schema("int"))


def _whole(value: float) -> int | float:
    """Return a whole number like `2.0` as an integer, and any other number unchanged.

    pydantic-core's own checks aren't exact: a strict float takes and rounds integers, `multiple_of` has a tolerance,
    and its conversion to an integer is limited to 64 bits.
    """
    return int(value) if value.is_integer() else value


# Takes anything, so that only the schema after it reports a value that isn't an integer.
_WHOLE_NUMBER_AS_INTEGER = core_schema.union_schema(
    [
        core_schema.int_schema(strict=True),
        core_schema.no_info_after_validator_function(_whole, core_schema.float_schema(strict=True)),
        core_schema.any_schema(),
    ],
    mode="left_to_right",
)


class Number:
    """A finite number from `minimum` to `maximum`, both inclusive."""

    def __init__(self, minimum: float | None = None, maximum: float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def __repr__(self) -> str:
        return f"Number({self.minimum}, {self.maximum})"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        low = None if self.minimum is None else math.ceil(self.minimum)
        high = None if self.maximum is None else math.floor(self.maximum)
        return core_schema.union_schema(
            [
                core_schema.int_schema(strict=True, ge=low, le=high),
                core_schema.float_schema(strict=True, ge=self.minimum, le=self.maximum, allow_inf_nan=False),
            ],
            mode="left_to_right",
            custom_error_type="number",
            custom_error_message=f"Input should be {self._described()}",
            serialization=core_schema.simple_ser_schema("any"),
        )

    def _described(self) -> str:
        bounds = {"greater than or equal to": self.minimum, "less than or equal to": self.maximum}
        limits = [f"{words} {bound}" for words, bound in bounds.items() if bound is not None]
        return " ".join(["a number", " and ".join(limits)]).rstrip()


Int8: TypeAlias = Annotated[int, Integer(-(2**7), 2**7 - 1)]
Int16: TypeAlias = Annotated[int, Integer(-(2**15), 2**15 - 1)]
Int32: TypeAlias = Annotated[int, Integer(-(2**31), 2**31 - 1)]
Int64: TypeAlias = Annotated[int, Integer(-(2**63), 2**63 - 1)]
Uint8: TypeAlias = Annotated[int, Integer(0, 2**8 - 1)]
Uint16: TypeAlias = Annotated[int, Integer(0, 2**16 - 1)]
Uint32: TypeAlias = Annotated[int, Integer(0, 2**32 - 1)]
Uint64: TypeAlias = Annotated[int, Integer(0, 2**64 - 1)]
Double: TypeAlias = Annotated[float, Number()]

Base64: TypeAlias = str
"""Binary data, base64-encoded; not checked."""
DateTime: TypeAlias = str
"""A date and time (RFC 3339); not checked."""
Regex: TypeAlias = str
"""A regular expression (ECMA-262); not checked."""
Uri: TypeAlias = str
"""A URI (RFC 3986); not checked."""
