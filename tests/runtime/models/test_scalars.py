"""The scalar types of the schema take exactly the values of their formats, parsed and in constructors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from acp_runtime import Model
from acp_runtime.models.scalars import (
    Double,
    Exact,
    Int8,
    Int16,
    Int32,
    Int64,
    Integer,
    Number,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
)

SHARE: Any = Annotated[float, Number(0, 1)]
RANGES = [
    (Int8, -128, 127),
    (Int16, -32_768, 32_767),
    (Int32, -2_147_483_648, 2_147_483_647),
    (Int64, -9_223_372_036_854_775_808, 9_223_372_036_854_775_807),
    (Uint8, 0, 255),
    (Uint16, 0, 65_535),
    (Uint32, 0, 4_294_967_295),
    (Uint64, 0, 18_446_744_073_709_551_615),
    (SHARE, 0, 1),
]


@pytest.mark.parametrize(("kind", "lowest", "highest"), RANGES)
def test_a_number_is_in_the_range_of_its_format(kind: Any, lowest: int, highest: int) -> None:
    adapter = TypeAdapter(kind)
    for value in (lowest, highest):
        assert adapter.validate_json(str(value)) == adapter.validate_python(value, strict=True) == value
    for value in (lowest - 1, highest + 1):
        with pytest.raises(ValidationError):
            adapter.validate_json(str(value))
        with pytest.raises(ValidationError):
            adapter.validate_python(value, strict=True)


@pytest.mark.parametrize("json", ['"1"', "true", "null", "[]", "Infinity", "NaN"])
@pytest.mark.parametrize("kind", [Int32, Double])
def test_what_is_no_number_in_json_is_one_error(kind: Any, json: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_json(json)
    assert len(caught.value.errors()) == 1


def test_an_integer_may_be_written_with_a_fraction_of_zero() -> None:
    class Holder(Model):
        value: Int32

    value = Holder.model_validate_json('{"value":1.0}').value
    assert (type(value), value) == (int, 1)
    with pytest.raises(ValidationError, match="fractional part"):
        Holder.model_validate_json('{"value":1.5}')


def test_the_error_and_the_json_schema_of_a_number_have_its_limits() -> None:
    with pytest.raises(ValidationError, match="a number greater than or equal to 0 and less than or equal to 1"):
        TypeAdapter(SHARE).validate_json("2")
    with pytest.raises(ValidationError, match=r"Input should be a number \["):
        TypeAdapter(Double).validate_json("null")
    assert TypeAdapter(SHARE).json_schema() == {"type": "number", "minimum": 0, "maximum": 1}
    assert TypeAdapter(Annotated[int, Integer(0, 9)]).json_schema() == {"type": "integer", "minimum": 0, "maximum": 9}


def test_the_error_for_another_constant_has_the_given_value() -> None:
    with pytest.raises(ValidationError, match="Input should be 1 ") as caught:
        TypeAdapter(Annotated[Literal[1], Exact]).validate_json("true")
    assert caught.value.errors()[0]["input"] is True
