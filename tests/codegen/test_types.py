"""Scalars, enums, arrays and maps: the JSON that a generated field takes, and the JSON that it refuses."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.codegen.build import STRING, Schema, array, enum, model, ref, wraps
from tests.support.codegen.generating import Generate

INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number", "format": "double"}


def unsigned(bits: int) -> Schema:
    return {**INTEGER, "format": f"uint{bits}", "minimum": 0}


def signed(bits: int) -> Schema:
    return {**INTEGER, "format": f"int{bits}"}


ACCEPTED: list[tuple[Schema, Any]] = [
    (STRING, ""),
    ({"type": "boolean"}, False),
    (INTEGER, 2**70),
    (signed(8), -128),
    (signed(16), 2**15 - 1),
    (signed(32), -(2**31)),
    (signed(64), 2**63 - 1),
    (unsigned(8), 255),
    (unsigned(16), 0),
    (unsigned(32), 2**32 - 1),
    (unsigned(64), 2**64 - 1),
    ({**unsigned(16), "maximum": 9}, 9),
    ({**signed(32), "minimum": -3}, -3),
    (NUMBER, 1.5),
    ({"type": "number"}, 3),
    ({**NUMBER, "minimum": 0, "maximum": 1}, 1),
    ({**STRING, "minLength": 2}, "ab"),
    ({**STRING, "pattern": "^/"}, "/abs"),
    ({**STRING, "format": "uri"}, "any text: a format is an annotation"),
    ({**STRING, "contentEncoding": "base64"}, "aGk="),
    ({**STRING, "enum": ["a", "b"]}, "b"),
    ({**STRING, "const": "only"}, "only"),
    ({**INTEGER, "const": -32700}, -32700),
    ({**INTEGER, "enum": [0, 1]}, 1),
    ({"type": "boolean", "const": True}, True),
    ({"enum": [1, True, "a"]}, True),
    ({"enum": [1, True, "a"]}, 1),
    ({"enum": [1, True, "a"]}, "a"),
    (enum("a", "b"), "a"),
    ({"anyOf": [{**STRING, "const": "a"}, STRING]}, "anything"),
    ({"anyOf": [{**INTEGER, "const": 1}, INTEGER]}, 2),
    (array(STRING), []),
    (array(STRING, minItems=1), ["a"]),
    (array(ref("Line")), [{"line": "x"}]),
    ({"type": "object", "additionalProperties": True}, {"a": [None, {"b": 1}]}),
    ({"type": "object", "additionalProperties": STRING}, {"a": "b"}),
    ({"type": "object", "additionalProperties": ref("Line")}, {"a": {"line": "x"}}),
    ({}, {"any": ["json", None, 1.5]}),
    ({"anyOf": [STRING, array(STRING)]}, ["a"]),
    ({"anyOf": [ref("Line"), {"type": "null"}]}, None),
    ({"type": ["string", "null"]}, None),
    ({"type": "null"}, None),
]

REFUSED: list[tuple[Schema, Any]] = [
    (STRING, 1),
    (STRING, None),
    ({"type": "boolean"}, 0),
    (INTEGER, 1.5),
    (INTEGER, True),
    (signed(8), 128),
    (signed(64), 2**63),
    (unsigned(8), 256),
    (unsigned(32), -1),
    (unsigned(64), 2**64),
    ({**unsigned(16), "maximum": 9}, 10),
    ({**signed(32), "minimum": -3}, -4),
    (NUMBER, "1"),
    ({**NUMBER, "minimum": 0, "maximum": 1}, 1.01),
    ({**STRING, "minLength": 2}, "a"),
    ({**STRING, "pattern": "^/"}, "rel"),
    ({**STRING, "enum": ["a", "b"]}, "c"),
    ({**STRING, "const": "only"}, "other"),
    ({**INTEGER, "const": 1}, True),
    ({**INTEGER, "enum": [0, 2]}, False),
    ({"anyOf": [{**INTEGER, "const": 1}, INTEGER]}, True),
    ({"type": "boolean", "const": True}, 1),
    ({"type": "boolean", "const": True}, False),
    ({"enum": [1, "a"]}, True),
    (enum("a", "b"), "c"),
    ({"anyOf": [{**STRING, "const": "a"}, STRING]}, 1),
    (array(STRING), [1]),
    (array(STRING), "a"),
    (array(STRING, minItems=1), []),
    ({"type": "object", "additionalProperties": STRING}, {"a": 1}),
    ({"type": "object", "additionalProperties": True}, []),
    ({"anyOf": [STRING, array(STRING)]}, [1]),
    ({"type": "null"}, 0),
]


@pytest.fixture(scope="module")
def many() -> Schema:
    """One schema with a model for every property above, because generating takes the most time."""
    schemas = {json.dumps(schema): schema for schema, _ in [*ACCEPTED, *REFUSED]}
    holders = {
        f"Holder{_letters(index)}": model(["value"], value=schema) for index, schema in enumerate(schemas.values())
    }
    return {"Line": model(["line"], line=STRING), **holders}


@pytest.fixture(scope="module")
def package(generate_once: Generate, many: Schema) -> Any:
    return generate_once(many)


def test_every_type_takes_and_dumps_the_values_that_its_schema_allows(package: Any, many: Schema) -> None:
    for schema, value in ACCEPTED:
        message = json.dumps({"value": value})
        result = _holder(package, many, schema).model_validate_json(message)
        assert json.dumps(json.loads(result.model_dump_json())) == message, schema


def test_every_type_refuses_the_values_that_its_schema_forbids(package: Any, many: Schema) -> None:
    assert [(schema, value) for schema, value in REFUSED if _takes(_holder(package, many, schema), value)] == []


EDGES = {
    "-9223372036854775808.0": (signed(64), -(2**63)),
    "9223372036854774784.0": (signed(64), 2**63 - 1024),
    "9223372036854775808.0": (unsigned(64), 2**63),
    "1e19": (unsigned(64), 10**19),
    "18446744073709549568.0": (unsigned(64), 2**64 - 2048),
    "1e22": (INTEGER, 10**22),
    "-128.0": (signed(8), -128),
}
BEYOND = {
    "9223372036854775808.0": signed(64),
    "-9223372036854777856.0": signed(64),
    "18446744073709551616.0": unsigned(64),
}


def test_an_integer_at_the_edge_of_its_range_may_be_written_as_a_float(generate_once: Generate) -> None:
    schemas = (INTEGER, signed(8), signed(64), unsigned(64))
    edges = generate_once({f"Edge{_letters(at)}": model(["value"], value=schema) for at, schema in enumerate(schemas)})
    for text, (schema, value) in EDGES.items():
        result = getattr(edges, f"Edge{_letters(schemas.index(schema))}").model_validate_json(f'{{"value":{text}}}')
        assert type(result.value) is int
        assert result.value == value
    for text, schema in BEYOND.items():
        with pytest.raises(ValidationError):
            getattr(edges, f"Edge{_letters(schemas.index(schema))}").model_validate_json(f'{{"value":{text}}}')


def test_named_enums_are_aliases_of_literals(generate: Generate) -> None:
    package = generate({"Kind": enum("read", "edit"), "Level": enum("low", opened=True)})
    assert get_args(package.Kind) == ("read", "edit")
    assert get_args(get_args(package.Level)[0]) == ("low",)
    assert get_args(package.Level)[1] is str


def test_a_named_scalar_keeps_its_bounds(generate: Generate) -> None:
    package = generate({"Path": {**STRING, "pattern": "^/"}, "Place": model(["path"], path=wraps("Path"))})
    assert package.Place(path="/a").path == "/a"
    with pytest.raises(ValidationError):
        package.Place(path="a")


def test_a_model_may_hold_itself(generate: Generate) -> None:
    package = generate({"Tree": model(["children"], children=array(ref("Tree")))})
    leaf = package.Tree(children=[])
    assert package.Tree(children=[leaf]).model_dump_json() == '{"children":[{"children":[]}]}'


def test_a_property_may_have_a_name_that_python_uses(generate: Generate) -> None:
    names = ["list", "dict", "str", "int", "tag", "self", "methods", "from", "class", "copy", "modelConfig"]
    others = {
        "kind": array(STRING),
        "more": {"type": "object", "additionalProperties": STRING},
        "size": {"type": ["integer", "null"]},
    }
    holders = {name: {name: {"type": ["string", "null"]}, **others} for name in names}
    members = [model(["type"], **holder, type={"type": "string", "const": name}) for name, holder in holders.items()]
    models = {f"Of{name.capitalize()}": model(**holder) for name, holder in holders.items()}
    package = generate({**models, "Block": {"anyOf": members}})
    for name in names:
        message = {"type": name, "kind": ["x"], name: "n", "more": {"a": "b"}, "size": 1}
        for definition in (getattr(package, f"Of{name.capitalize()}"), package.Block):
            value = TypeAdapter(definition).validate_json(json.dumps(message))
            assert json.loads(value.model_dump_json()) == message


def _letters(index: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(index))


def _takes(holder: Any, value: Any) -> bool:
    try:
        holder.model_validate_json(json.dumps({"value": value}))
    except ValidationError:
        return False
    return True


def _holder(package: Any, many: Schema, schema: Schema) -> Any:
    wanted = model(["value"], value=schema)
    return getattr(package, next(name for name, number in many.items() if number == wanted))
