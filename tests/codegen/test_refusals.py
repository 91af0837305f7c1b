"""Fail closed: what has no rule stops the generator with the file, the place and a sentence; nothing is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import main
from tests.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    model,
    other,
    part_of,
    ref,
    tagged,
    tree,
    wraps,
    write_schema,
)

PAIR = {"anyOf": [tagged("type", "text", "Text"), other("type", "text")]}
BASE: Schema = acp_schema(
    {
        "Text": model(["text"], text=STRING, note={"type": ["string", "null"]}),
        "Kind": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
        "Block": PAIR,
        "Holder": model(
            ["items"],
            items={"type": "array", "items": ref("Text")},
            extra={"type": "object", "additionalProperties": True},
        ),
        "NewRequest": part_of("session/new", "agent", model(["cwd"], cwd=STRING)),
        "NewResponse": part_of("session/new", "agent", model()),
        "CancelNotification": part_of("session/cancel", "agent", model()),
    }
)


def changed(**definitions: Any) -> Schema:
    """The base schema with other definitions."""
    return acp_schema({**_definitions(), **definitions})


def at(path: str, **keywords: Any) -> Schema:
    """The base schema with more keywords in one place."""
    schema = json.loads(json.dumps(BASE))
    node: Any = schema
    for key in path.strip("/").split("/") if path else []:
        node = node[int(key) if isinstance(node, list) else key]
    node.update(keywords)
    return schema


def without(*path: str) -> Schema:
    schema = json.loads(json.dumps(BASE))
    node: Any = schema
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return schema


def _definitions() -> Schema:
    made_by_acp_schema = re.compile(r"(Agent|Client)(Request|Response|Notification)|RequestId|Error|ExtRequest")
    return {name: each for name, each in BASE["$defs"].items() if not made_by_acp_schema.fullmatch(name)}


PLACES = {
    "the root": "",
    "a message": "/anyOf/0",
    "a part of a message": "/anyOf/0/anyOf/1",
    "the version of a message": "/anyOf/0/properties/jsonrpc",
    "a definition": "/$defs/Text",
    "an enum": "/$defs/Kind",
    "a value of an enum": "/$defs/Kind/oneOf/0",
    "a property": "/$defs/Text/properties/text",
    "the items of an array": "/$defs/Holder/properties/items/items",
    "a union": "/$defs/Block",
    "a union member": "/$defs/Block/anyOf/0",
    "a tag": "/$defs/Block/anyOf/0/properties/type",
    "a reference": "/$defs/Block/anyOf/0/allOf/0",
    "an open member": "/$defs/Block/anyOf/1",
    "an open tag": "/$defs/Block/anyOf/1/properties/type",
    "what a member is not": "/$defs/Block/anyOf/1/not",
    "a tag it is not": "/$defs/Block/anyOf/1/not/anyOf/0/properties/type",
    "an envelope": "/$defs/ClientRequest",
    "the params of an envelope": "/$defs/ClientRequest/properties/params",
}

CASES: dict[str, tuple[Schema, str, str]] = {
    "an unknown side": (
        changed(NewRequest=part_of("session/new", "server", model())),
        "/$defs/NewRequest/x-side",
        "'server'",
    ),
    "a method without a side": (without("$defs", "NewRequest", "x-side"), "/$defs/NewRequest", "come together"),
    "a side without a method": (without("$defs", "NewRequest", "x-method"), "/$defs/NewRequest", "come together"),
    "a request without a response": (without("$defs", "NewResponse", "x-side"), "/$defs/NewResponse", "come together"),
    "a request whose response has another method": (
        changed(NewResponse=part_of("session/load", "agent", model())),
        "/$defs/NewRequest",
        "no response",
    ),
    "a payload that no method claims": (
        changed(NewResponse=model()) | {"anyOf": BASE["anyOf"]},
        "/$defs/NewRequest",
        "no response",
    ),
    "a method in no message": (
        at("/$defs/Text", **{"x-side": "agent", "x-method": "session/load"}),
        "/$defs/Text",
        "in none",
    ),
    "two requests of one method": (
        changed(OtherRequest=part_of("session/new", "agent", model())),
        "/$defs/OtherRequest",
        "already the request",
    ),
    "a method nobody mapped": (
        changed(
            A1Request=part_of("session/teleport", "agent", model()),
            A1Response=part_of("session/teleport", "agent", model()),
        ),
        "/$defs/A1Request/x-method",
        "neither baseline nor mapped",
    ),
    "a capability that is not in the schema": (
        changed(
            ReadRequest=part_of("fs/read_text_file", "client", model()),
            ReadResponse=part_of("fs/read_text_file", "client", model()),
            InitializeRequest=model(clientCapabilities=ref("Text")),
        ),
        "/$defs/Text",
        "no 'fs' here",
    ),
    "two tags": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("kind", "b", "Text")]}),
        "/$defs/Block",
        "several constants",
    ),
    "one tag twice": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("type", "a", description="Again.")]}),
        "/$defs/Block",
        "have the tag 'a'",
    ),
    "a member with neither tag nor title": (
        changed(Block={"anyOf": [wraps("Text"), wraps("Holder")]}),
        "/$defs/Block/anyOf/0",
        "a title",
    ),
    "an open member that excludes too little": (
        changed(Block={"anyOf": [tagged("type", "a", "Text"), tagged("type", "b", "Text"), other("type", "a")]}),
        "/$defs/Block/anyOf/2/not",
        "exactly the known tags",
    ),
    "a discriminator that no member has": (
        changed(Block={"oneOf": [tagged("type", "a", "Text")], "discriminator": {"propertyName": "kind"}}),
        "/$defs/Block/discriminator",
        "No member",
    ),
    "a oneOf with a tag and no discriminator": (
        changed(Block={"oneOf": [tagged("type", "a", "Text")]}),
        "/$defs/Block",
        "discriminator",
    ),
    "a oneOf of types": (changed(Kind={"oneOf": [STRING, {"type": "integer"}]}), "/$defs/Kind", "constants"),
    "anyOf beside oneOf": (at("/$defs/Kind", anyOf=[STRING]), "/$defs/Kind", "beside"),
    "a union of nothing": (changed(Kind={"anyOf": []}), "/$defs/Kind/anyOf", "Expected schemas"),
    "a member in common with the union": (
        changed(
            Block={
                **model(type=STRING, a=STRING),
                "anyOf": [
                    {**model(["type"], a=STRING, type={"type": "string", "const": "x"})},
                    {"title": "none", **model(type={"type": "null"})},
                ],
            }
        ),
        "/$defs/Block/anyOf/0/properties/a",
        "whole union",
    ),
    "a tag that the wrapped definition has too": (
        changed(Block={"anyOf": [tagged("text", "a", "Text")]}),
        "/$defs/Block/anyOf/0",
        "which this wraps",
    ),
    "two members of one name": (
        changed(Block={"anyOf": [tagged("type", "a_b"), tagged("type", "aB")]}),
        "/$defs/Block/anyOf/1",
        "already the name",
    ),
    "a member with a definition's name": (changed(BlockText=model()), "/$defs/Block/anyOf/0", "already a definition's"),
    "a tag in place into what is used elsewhere": (
        changed(
            BlockText=model(), Also=model(a=ref("BlockText")), Block={"anyOf": [tagged("type", "text", "BlockText")]}
        ),
        "/$defs/Block/anyOf/0",
        "used without the tag",
    ),
    "a key that is not snake case's camel case": (
        changed(Text=model(fooBar=STRING, foo_bar=STRING)),
        "/$defs/Text/properties/foo_bar",
        "no Python name",
    ),
    "a key without letters": (changed(Text=model(**{"$": STRING})), "/$defs/Text/properties/$", "no Python name"),
    "a key with a hyphen": (changed(Text=model(**{"a-b": STRING})), "/$defs/Text/properties/a-b", "no Python name"),
    "a key that begins with a digit": (
        changed(Text=model(**{"2d": STRING})),
        "/$defs/Text/properties/2d",
        "no Python name",
    ),
    "a key with a slash": (changed(Text=model(**{"a/b~": STRING})), "/$defs/Text/properties/a~1b~0", "no Python name"),
    "a definition in lower case": (changed(text=model()), "/$defs/text", "name of a class"),
    "a definition called None": (changed(**{"None": model()}), "/$defs/None", "name of a class"),
    "a definition with a title": (at("/$defs/Text", title="Words"), "/$defs/Text/title", "title"),
    "a reference to nowhere": (changed(Text=model(a=ref("Gone"))), "/$defs/Text/properties/a", "no definition 'Gone'"),
    "a member that wraps nothing there is": (
        changed(Block={"anyOf": [tagged("type", "a", "Gone")]}),
        "/$defs/Block/anyOf/0",
        "'Gone'",
    ),
    "a reference into a definition": (
        changed(Text=model(a={"$ref": "#/$defs/Kind/oneOf/0"})),
        "/$defs/Text/properties/a/$ref",
        "Expected a reference",
    ),
    "a reference to another file": (
        changed(Text=model(a={"$ref": "other.json#/$defs/Kind"})),
        "/$defs/Text/properties/a/$ref",
        "Expected a reference",
    ),
    "an alias of itself": (changed(Kind=ref("Kind")), "/$defs/Kind", "can't be itself"),
    "two aliases of each other": (changed(Kind=ref("Sort"), Sort=ref("Kind")), "/$defs/Kind", "can't be itself"),
    "a required property that is salvaged to nothing": (
        changed(Text=model(["a"], a={**STRING, "x-deserialize-default-on-error": True})),
        "/$defs/Text/properties/a",
        "salvaged",
    ),
    "a required property with a default": (
        changed(Text=model(["a"], a={**STRING, "default": "x"})),
        "/$defs/Text/properties/a/default",
        "required",
    ),
    "items to skip where there are none": (
        changed(Text=model(a={**STRING, "x-deserialize-skip-invalid-items": True})),
        "/$defs/Text/properties/a/x-deserialize-skip-invalid-items",
        "Only an array",
    ),
    "a default for null without a rule": (
        changed(Text=model(a={**STRING, "x-deserialize-default-on-null": True})),
        "/$defs/Text/properties/a/x-deserialize-default-on-null",
        "what null becomes",
    ),
    "leniency that is false": (
        at("/$defs/Text/properties/note", **{"x-deserialize-default-on-error": False}),
        "/$defs/Text/properties/note/x-deserialize-default-on-error",
        "Expected true",
    ),
    "a default of another type": (
        changed(Text=model(a={"type": "boolean", "default": "x"})),
        "/$defs/Text/properties/a/default",
        "not a bool",
    ),
    "a default with items": (
        changed(Text=model(a={"type": "array", "items": STRING, "default": ["x"]})),
        "/$defs/Text/properties/a/default",
        "with items",
    ),
    "a default with a key its definition lacks": (
        changed(Holder=model(a={**wraps("Text"), "default": {"new": 1}})),
        "/$defs/Holder/properties/a/default/new",
        "no 'new'",
    ),
    "required and not described": (changed(Text=model(["gone"], a=STRING)), "/$defs/Text/required", "not described"),
    "two types": (changed(Text=model(a={"type": ["string", "integer"]})), "/$defs/Text/properties/a/type", "one type"),
    "an unknown type": (changed(Text=model(a={"type": "date"})), "/$defs/Text/properties/a/type", "one type"),
    "an unknown format": (
        changed(Text=model(a={**STRING, "format": "uuid"})),
        "/$defs/Text/properties/a/format",
        "type of its own",
    ),
    "an array of nothing": (changed(Text=model(a={"type": "array"})), "/$defs/Text/properties/a", "without `items`"),
    "an object inside a property": (changed(Text=model(a=model(b=STRING))), "/$defs/Text/properties/a", "no name"),
    "an object that says nothing": (
        changed(Text=model(a={"type": "object"})),
        "/$defs/Text/properties/a",
        "additionalProperties",
    ),
    "additionalProperties false": (
        at("/$defs/Text", additionalProperties=False),
        "/$defs/Text/additionalProperties",
        "Expected true",
    ),
    "properties without a type": (without("$defs", "Text", "type"), "/$defs/Text", "type"),
    "a constant of another type": (changed(Kind={"type": "string", "enum": [1]}), "/$defs/Kind", "constant 1"),
    "an enum with one value twice": (
        changed(Kind={"type": "string", "enum": ["a", "a"]}),
        "/$defs/Kind/enum",
        "differ",
    ),
    "another dialect": (at("", **{"$schema": "http://json-schema.org/draft-07/schema#"}), "/$schema", "2020-12"),
    "another title": (at("", title="Some Other Protocol"), "/title", "Agent Client Protocol"),
    "a message of someone else": (at("/anyOf/0", title="Server"), "/anyOf/0/title", "'Server'"),
    "a message without its version": (without("anyOf", 0, "required"), "/anyOf/0/required", "jsonrpc"),  # type: ignore[arg-type]
    "an envelope that JSON-RPC does not know": (
        at("/$defs/ClientRequest/properties", extra=STRING),
        "/$defs/ClientRequest",
        "no JSON-RPC message",
    ),
}
MALFORMED: dict[str, Any] = {
    "/$defs/Text/properties/text": 5,
    "/$defs/Text/properties": [],
    "/$defs/Text/required": "text",
    "/$defs/Text/type": 5,
    "/$defs/Text/description": ["a"],
    "/$defs/Kind/oneOf": {},
    "/$defs/Kind/oneOf/0": "a",
    "/$defs/Block/anyOf/1/not": True,
    "/$defs/Holder/properties/items/items": [STRING],
    "/$defs/Holder/properties/items/items/$ref": 5,
    "/$defs/NewRequest/x-method": True,
    "/$defs/NewRequest/x-side": None,
    "/$defs/Text": None,
    "/anyOf": None,
    "/anyOf/0": [],
}


def refused(schema_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Regenerate over an existing package; nothing may change. Gives the sentence on stderr."""
    output = tmp_path / "output"
    (output / "acp_bindings/v1").mkdir(parents=True)
    (output / "acp_bindings/v1/models.py").write_text("# as it was\n", "utf-8")
    before = tree(output)
    assert main(["regen", "--schema", str(schema_folder), "--output", str(output)]) == 1
    assert tree(output) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.strip()


Refuse = Callable[[Schema], str]


@pytest.fixture
def refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refuse:
    return lambda schema: refused(write_schema(tmp_path / "schema", schema), tmp_path, capsys)


def test_the_base_of_these_tests_is_accepted(tmp_path: Path) -> None:
    assert (
        main(["regen", "--schema", str(write_schema(tmp_path / "schema", BASE)), "--output", str(tmp_path / "out")])
        == 0
    )


@pytest.mark.parametrize("keyword", ["x-new", "maxProperties"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_an_unknown_keyword_stops_it_wherever_it_stands(refuse: Refuse, place: str, keyword: str) -> None:
    error = refuse(at(place, **{keyword: True}))
    assert error.startswith(f"codegen: v1/schema.json#{place}/{keyword}: ")
    assert "has no rule" in error


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_has_no_rule_stops_it(refuse: Refuse, case: tuple[Schema, str, str]) -> None:
    schema, pointer, words = case
    error = refuse(schema)
    assert error.startswith(f"codegen: v1/schema.json#{pointer}: ")
    assert words in error
    assert error.endswith(".") or error.endswith("?")


@pytest.mark.parametrize(
    "name", "Agent Client RemoteAgent Model OpenModel Any Literal Field Sequence ByTag Uint16 Request Final".split()
)
def test_a_name_that_the_generated_code_uses_stops_it(refuse: Refuse, name: str) -> None:
    error = refuse(changed(**{name: model()}))
    assert error.startswith(f"codegen: v1/schema.json#/$defs/{name}: ")
    assert "for something else" in error


@pytest.mark.parametrize("pointer", MALFORMED)
def test_a_malformed_schema_stops_it(refuse: Refuse, pointer: str) -> None:
    parent, _, key = pointer.rpartition("/")
    schema = json.loads(json.dumps(BASE))
    node: Any = schema
    for each in parent.strip("/").split("/") if parent else []:
        node = node[int(each) if isinstance(node, list) else each]
    node[int(key) if isinstance(node, list) else key] = MALFORMED[pointer]
    assert refuse(schema).startswith(f"codegen: v1/schema.json#{pointer}: ")
