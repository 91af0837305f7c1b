"""Optional fields that are absent, null or invalid: the values they have, and the JSON they dump."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.codegen.build import STRING, Schema, array, model, ref, wraps
from tests.support.codegen.generating import Generate

ON_ERROR = {"x-deserialize-default-on-error": True}
ON_NULL = {"x-deserialize-default-on-null": True}
SKIP = {"x-deserialize-skip-invalid-items": True}
NUMBERS: Schema = array({"type": "integer", "format": "int32"})

DEFINITIONS: Schema = {
    "Mcp": model(http={"type": "boolean", "default": False, **ON_ERROR}, sse={"type": "boolean", "default": True}),
    "Holder": model(
        nullable={"type": ["string", "null"]},
        absent=STRING,
        flag={"type": "boolean", "default": True, **ON_ERROR},
        word={**STRING, "default": "object"},
        items={**NUMBERS, "default": []},
        filled={**NUMBERS, "default": [1, 2]},
        plain=NUMBERS,
        byKey={"type": "object", "additionalProperties": True, "default": {"a": [None, "x"]}},
        mcp={**wraps("Mcp"), "default": {"http": True, "sse": True}, **ON_ERROR},
        lenient={"type": ["integer", "null"], **ON_ERROR},
        some={**NUMBERS, **SKIP},
        orNull={"type": ["array", "null"], "items": STRING, **ON_ERROR, **SKIP},
        unlessNull={**NUMBERS, **ON_NULL},
    ),
    "Strict": model(["list"], list={**NUMBERS, **ON_ERROR, **SKIP}),
}


pytestmark = pytest.mark.xdist_group("optional_fields")


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> Any:
    return generate_once(DEFINITIONS)


def test_an_absent_field_has_its_default(package: Any) -> None:
    value = package.Holder.model_validate_json("{}")
    assert (value.nullable, value.absent_, value.lenient) == (None, None, None)
    assert (value.flag, value.word) == (True, "object")
    assert (value.items, value.filled, value.plain, value.some) == ([], [1, 2], [], [])
    assert value.by_key == {"a": [None, "x"]}
    assert (value.mcp.http, value.mcp.sse) == (True, True)
    assert value.model_dump_json() == "{}"


def test_null_is_kept_if_the_schema_allows_it_and_refused_otherwise(package: Any) -> None:
    assert package.Holder.model_validate_json('{"nullable": null}').model_dump_json() == '{"nullable":null}'
    for key in ("absent", "word", "items", "plain", "byKey"):
        with pytest.raises(ValidationError):
            package.Holder.model_validate_json(json.dumps({key: None}))


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ({"flag": "yes"}, {}),
        ({"mcp": []}, {}),
        ({"mcp": {"http": 1}}, {"mcp": {}}),
        ({"lenient": "x", "word": "w"}, {"word": "w"}),
        ({"some": [1, "2", 3, None]}, {"some": [1, 3]}),
        ({"orNull": [1, "a"]}, {"orNull": ["a"]}),
        ({"orNull": 5}, {}),
        ({"orNull": None}, {"orNull": None}),
        ({"unlessNull": None}, {}),
    ],
)
def test_an_invalid_value_falls_back_if_the_field_is_lenient(package: Any, message: Any, kept: Any) -> None:
    value = package.Holder.model_validate_json(json.dumps(message))
    assert json.loads(value.model_dump_json()) == kept


@pytest.mark.parametrize(
    "message", [{"absent": 1}, {"some": "x"}, {"some": None}, {"unlessNull": ["x"]}, {"word": None}]
)
def test_an_invalid_value_is_refused_if_the_field_is_not_lenient(package: Any, message: Any) -> None:
    with pytest.raises(ValidationError):
        package.Holder.model_validate_json(json.dumps(message))


def test_a_required_lenient_array_falls_back_to_an_empty_one_but_must_be_present(package: Any) -> None:
    value = package.Strict.model_validate_json('{"list": 5}')
    assert value.list == []
    assert package.Strict.model_validate_json('{"list": [1, "x", 2]}').list == [1, 2]
    with pytest.raises(ValidationError):
        package.Strict.model_validate_json("{}")


def test_a_field_may_refer_to_a_nullable_definition(generate: Generate) -> None:
    name = {"anyOf": [{"title": "none", "type": "null"}, {"title": "text", **STRING}]}
    holder = model(["a"], a=ref("Name"), b=ref("Name"), c=ref("Level"))
    package = generate({"Name": name, "Level": {"enum": ["low", None]}, "Holder": holder})
    message = '{"a":null,"b":null,"c":null}'
    assert package.Holder.model_validate_json(message).model_dump_json() == message
