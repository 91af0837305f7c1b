"""JSON Schema that means the same as what upstream writes today gives the same package and no finding."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from codegen.diff.report import compare
from codegen.emit.modules import emit_profile
from codegen.pinned.profiles import Profile
from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, ref, tagged, wraps
from tests.support.codegen.generating import Generate
from tests.support.diff.cases import around
from tests.support.diff.sides import side_of_schemas

PROFILE = Profile("v1", "v1/schema.json", "", "", "")
TEXT, LINK = model(["text"], text=STRING), model(["uri"], uri=STRING)
MEMBERS = [tagged("type", "text", "Text"), tagged("type", "link", "Link")]
BY_TYPE = {"propertyName": "type"}
MAPPED = {"mapping": {"text": "#/$defs/Text", "link": "Link"}}
OPEN = other("type", "text", "link")
NULL: Schema = {"type": "null"}


def holding(value: Schema, block: Schema) -> Schema:
    """Return a schema in which the params of a method hold a value and a union."""
    return acp_schema(
        {
            **around("request", model(["block"], block=ref("Block"), value=value)),
            "Text": TEXT,
            "Link": LINK,
            "Block": block,
        }
    )


def with_block(block: Schema) -> Schema:
    return holding(STRING, block)


def with_value(value: Schema) -> Schema:
    return holding(value, {"anyOf": MEMBERS})


def with_enum_as_tag(member: Schema) -> Schema:
    (value,) = (member["properties"]["type"]["const"],)
    return {**member, "properties": {"type": {"type": "string", "enum": [value]}}}


def with_message(definition: str, **properties: Schema) -> Schema:
    """Return the usual schema, in which properties of a message are written differently."""
    schema = with_block({"anyOf": MEMBERS})
    schema["$defs"][definition] = model(schema["$defs"][definition]["required"], **properties)
    return schema


def with_request(**properties: Schema) -> Schema:
    return with_message("ClientRequest", **ENVELOPE["$defs"]["ClientRequest"]["properties"] | properties)


ENVELOPE = with_block({"anyOf": MEMBERS})
MAYBE_TEXT: Schema = {"anyOf": [ref("Text"), NULL]}
# What is written differently, and what upstream writes.
SAME: dict[str, tuple[Schema, Schema]] = {
    "anyOf with a discriminator": (with_block({"anyOf": MEMBERS, "discriminator": BY_TYPE}), ENVELOPE),
    "an open anyOf with a discriminator": (
        with_block({"anyOf": [*MEMBERS, OPEN], "discriminator": BY_TYPE}),
        with_block({"anyOf": [*MEMBERS, OPEN]}),
    ),
    "oneOf without a discriminator": (with_block({"oneOf": MEMBERS}), ENVELOPE),
    "an open oneOf": (with_block({"oneOf": [*MEMBERS, OPEN]}), with_block({"anyOf": [*MEMBERS, OPEN]})),
    "a mapping": (with_block({"oneOf": MEMBERS, "discriminator": BY_TYPE | MAPPED}), ENVELOPE),
    "an enum of one value as the tag": (with_block({"anyOf": [with_enum_as_tag(item) for item in MEMBERS]}), ENVELOPE),
    "oneOf a definition or null": (with_value({"oneOf": [ref("Text"), NULL]}), with_value(MAYBE_TEXT)),
    "null first": (with_value({"anyOf": [NULL, ref("Text")]}), with_value(MAYBE_TEXT)),
    "allOf around a reference": (with_value({"anyOf": [wraps("Text"), NULL]}), with_value(MAYBE_TEXT)),
    "oneOf types": (
        with_value({"oneOf": [STRING, {"type": "boolean"}]}),
        with_value({"anyOf": [STRING, {"type": "boolean"}]}),
    ),
    "anyOf constants": (
        with_value({"anyOf": [{"const": "a"}, {"const": "b"}]}),
        with_value({"oneOf": [{"const": "a"}, {"const": "b"}]}),
    ),
    "a default of null": (
        with_value({"type": ["string", "null"], "default": None}),
        with_value({"type": ["string", "null"]}),
    ),
    "an enum with null": (
        with_value({"type": ["string", "null"], "enum": ["a", "b", None]}),
        with_value({"anyOf": [{"type": "string", "enum": ["a", "b"]}, NULL]}),
    ),
    "an enum with null and without a type": (
        with_value({"enum": ["a", "b", None]}),
        with_value({"anyOf": [{"type": "string", "enum": ["a", "b"]}, NULL]}),
    ),
    "an enum that excludes null": (
        with_value({"type": ["string", "null"], "enum": ["a", "b"]}),
        with_value({"type": "string", "enum": ["a", "b"]}),
    ),
    "a constant that excludes null": (
        with_value({"type": ["string", "null"], "const": "a"}),
        with_value({"type": "string", "const": "a"}),
    ),
    "a constant null": (with_value({"const": None}), with_value(NULL)),
    "a union of one": (with_value({"anyOf": [ref("Text")]}), with_value(ref("Text"))),
    "a message's reference without allOf": (with_request(id=ref("RequestId")), ENVELOPE),
    "a message's union of one": (with_request(id={"anyOf": [ref("RequestId")]}), ENVELOPE),
    "a message's null first": (
        with_request(params={"anyOf": [NULL, ref("NewSessionRequest"), ref("ExtRequest")]}),
        with_request(params={"anyOf": [ref("NewSessionRequest"), ref("ExtRequest"), NULL]}),
    ),
    "the schema's own address": (ENVELOPE | {"$id": "https://example.com/schema.json"}, ENVELOPE),
}


@pytest.mark.parametrize(("written", "usual"), SAME.values(), ids=SAME)
def test_a_schema_that_is_written_differently_gives_the_same_package_and_no_finding(
    written: Schema, usual: Schema
) -> None:
    sides = [side_of_schemas({"v1": schema}) for schema in (written, usual)]
    emitted = [emit_profile(PROFILE, side.profiles["v1"].schema) for side in sides]
    assert emitted[0] == emitted[1]
    for report in (compare(*sides), compare(*sides[::-1])):
        assert (report.findings, report.bump) == ((), "none")


RUN: Schema = {
    "Text": TEXT,
    "Link": LINK,
    "Block": {
        "oneOf": [with_enum_as_tag(MEMBERS[0]), MEMBERS[1], OPEN],
        "discriminator": BY_TYPE | {"mapping": {"text": "Text"}},
    },
    "Holder": model(text={"oneOf": [NULL, ref("Text")]}, note={"type": ["string", "null"], "default": None}),
    "Plain": model(["text"], text=STRING) | {"not": {"type": "object", "required": ["type"]}},
    "Input": {"anyOf": [{"title": "plain", **wraps("Plain")}, {"title": "other", **model(["type"], type=STRING)}]},
}
READ: dict[str, tuple[str, Any, str]] = {
    "a tag that is an enum of one value": ("Block", {"type": "text", "text": "a"}, "BlockText"),
    "the other member of a tagged oneOf": ("Block", {"type": "link", "uri": "u"}, "BlockLink"),
    "an unknown tag of an open oneOf": ("Block", {"type": "new", "size": 1}, "BlockOther"),
    "a definition or null": ("Holder", {"text": {"text": "a"}}, "Holder"),
    "null, a definition": ("Holder", {"text": None, "note": None}, "Holder"),
    "without the key that it can't have": ("Input", {"text": "a"}, "Plain"),
    "with the key that the first member can't have": ("Input", {"text": "a", "type": "form"}, "InputOther"),
}
REFUSED = [("Plain", {"text": "a", "type": "x"}), ("Block", {"type": "text"}), ("Holder", {"text": 1})]


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    return generate_once(RUN)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value", "expected"), READ.values(), ids=READ)
def test_a_message_is_read_and_dumped_as_usual(package: ModuleType, name: str, value: Any, expected: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(getattr(package, name))
    read = adapter.validate_python(value)
    assert (type(read), read.model_dump(mode="json")) == (getattr(package, expected), value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_what_the_schema_refuses_is_refused(package: ModuleType, name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(getattr(package, name)).validate_python(value)
