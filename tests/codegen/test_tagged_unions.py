"""Tagged unions: the names of their members, and the member that a message becomes."""

from __future__ import annotations

import inspect
import json
from types import ModuleType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.codegen.build import STRING, Schema, model, other, ref, tagged, wraps
from tests.support.codegen.generating import Generate

TEXT = model(["text"], text=STRING)
LINK = model(["uri"], uri=STRING)
IDLE: Schema = {
    **model(note=STRING, stopReason={"type": ["string", "null"], "x-deserialize-default-on-error": True}),
    "anyOf": [
        tagged("stopReason", "error", "Text"),
        other("stopReason", "error"),
        {"title": "none", **model(stopReason={"type": "null"})},
    ],
}
ASK: Schema = {
    "anyOf": [
        tagged("mode", "form", "Text"),
        {
            "title": "other",
            **model(["mode"], mode=STRING),
            "anyOf": [{"title": "Text", **wraps("Text")}, {"title": "Link", **wraps("Link")}],
            "unevaluatedProperties": True,
            "not": {"anyOf": [tagged("mode", "form")]},
        },
    ]
}
DEFINITIONS: Schema = {
    "Text": TEXT,
    "Link": LINK,
    "Block": {
        "oneOf": [tagged("type", "text", "Text"), tagged("type", "resource_link", "Link")],
        "discriminator": {"propertyName": "type"},
    },
    "Holder": model(["block"], block=ref("Block")),
    "Open": {"anyOf": [tagged("type", "text", "Text"), other("type", "text", size={"type": "boolean"})]},
    "Server": {"anyOf": [tagged("type", "http", "Link"), {"title": "stdio", **wraps("Text")}]},
    "Option": {
        **model(["id"], id=STRING, note={"type": ["string", "null"]}),
        "anyOf": [tagged("type", "text", "Text"), other("type", "text")],
    },
    "PartText": TEXT,
    "Part": {"anyOf": [tagged("type", "text", "PartText"), other("type", "text")]},
    "Stop": {**model(note=STRING), "anyOf": [tagged("reason", "end"), tagged("reason", "error", "Text")]},
    "State": {"anyOf": [tagged("state", "idle", "Stop"), other("state", "idle")]},
    "Update": {"anyOf": [tagged("update", "state", "State"), tagged("update", "text", "Text")]},
    "First": {"anyOf": [tagged("a", "x", "Text"), tagged("a", "y", "Link")]},
    "Second": {"anyOf": [tagged("b", "x", "Text"), other("b", "x")]},
    "Both": {"anyOf": [{"title": "first", **wraps("First")}, {"title": "second", **wraps("Second")}]},
    "Idle": IDLE,
    "Ask": ASK,
    "Event": {
        "anyOf": [
            model(["type", "by"], type={"const": "start"}, by={"const": "user"}),
            model(["type", "by"], type={"const": "end"}, by={"const": "user"}),
        ],
        "discriminator": {"propertyName": "type"},
    },
    "Scope": {"oneOf": [{"title": "text", **wraps("Text")}, {"title": "link", **wraps("Link")}]},
    "Value": {
        "anyOf": [{"title": "Flag", **model(["on"], on={"type": "boolean"})}, {"title": "level", **wraps("Text")}]
    },
}
NESTED = {"update": "state", "state": "idle"}
# By what is tested: a union, a message, and the class of what it becomes, which dumps the message again.
PARSED: dict[str, tuple[str, Any, str]] = {
    "the member of a tag": ("Block", {"type": "resource_link", "uri": "u"}, "BlockResourceLink"),
    "an unknown tag": ("Open", {"type": "video", "size": True, "frames": [1, {"a": None}]}, "OpenOther"),
    "a tag beside a member without one": ("Server", {"type": "http", "uri": "u"}, "ServerHttp"),
    "a member without a tag": ("Server", {"text": "x"}, "Text"),
    "a tag that the payload does not fit": ("Server", {"type": "http", "text": "x"}, "Text"),  # the schema allows it
    "a common property": ("Option", {"id": "1", "type": "new", "note": "n"}, "OptionOther"),
    "a tag added to a definition with the member's name": ("Part", {"type": "text", "text": "x"}, "PartText"),
    "three levels": ("Update", {**NESTED, "reason": "error", "text": "x", "note": "n"}, "UpdateStateIdleError"),
    "an unknown tag on the second level": ("Update", {"update": "state", "state": "new"}, "UpdateStateOther"),
    "the first of two unions": ("Both", {"a": "y", "uri": "u"}, "FirstY"),
    "the second of two unions": ("Both", {"b": "new"}, "SecondOther"),
    "null for the tag": ("Idle", {"stopReason": None}, "IdleNone"),
    "no tag": ("Idle", {}, "IdleNone"),
    "a tag beside null": ("Idle", {"stopReason": "error", "text": "x"}, "IdleError"),
    "an unknown tag beside null": ("Idle", {"stopReason": "new"}, "IdleOther"),
    "an open member that wraps definitions": ("Ask", {"mode": "poll", "uri": "u", "choices": [1]}, "AskOtherLink"),
    "the tag that the discriminator names": ("Event", {"type": "end", "by": "user"}, "EventEnd"),
    "exactly one match": ("Scope", {"uri": "u"}, "Link"),
    "a titled member": ("Value", {"text": "x"}, "Text"),
}
# A class, its keywords, and the tags that it dumps besides them.
BUILT: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("BlockResourceLink", {"uri": "u"}, {"type": "resource_link"}),
    ("OpenOther", {"type": "video", "size": True, "frames": 2}, {}),
    ("OptionText", {"id": "1", "text": "x"}, {"type": "text"}),
    ("PartText", {"text": "x"}, {"type": "text"}),
    ("UpdateStateIdleEnd", {}, {**NESTED, "reason": "end"}),
    ("AskOtherLink", {"mode": "poll", "uri": "u", "choices": [1]}, {}),
    ("ValueFlag", {"on": True}, {}),
]
REFUSED: list[tuple[str, Any]] = [
    ("Block", {"type": "text", "uri": "u"}),
    ("Block", {"type": "video", "text": "x"}),
    ("Block", {"text": "x"}),
    ("Open", {"type": "text"}),
    ("Open", {"type": "text", "size": True}),
    ("Open", {"type": "video"}),
    ("Server", {"type": "http"}),
    ("Option", {"type": "text", "text": "x"}),
    ("Update", {**NESTED, "reason": "new"}),
    ("Idle", {"stopReason": "error"}),
    ("Scope", {"uri": "u", "text": "x"}),
]


def parse(union: Any, message: Any) -> Any:
    return TypeAdapter(union).validate_json(json.dumps(message))


def dump(value: Any) -> Any:
    return json.loads(value.model_dump_json())


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    return generate_once(DEFINITIONS)


def test_a_member_has_the_name_of_its_union_and_tag(package: ModuleType) -> None:
    assert issubclass(package.BlockText, package.Text)
    assert issubclass(package.BlockResourceLink, package.Link)


@pytest.mark.parametrize(("union", "message", "expected"), PARSED.values(), ids=PARSED)
def test_a_message_becomes_a_member_and_is_dumped_again(
    package: ModuleType, union: str, message: Any, expected: str
) -> None:
    parsed = parse(getattr(package, union), message)
    assert type(parsed) is getattr(package, expected)
    assert dump(parsed) == message


@pytest.mark.parametrize(("union", "message"), REFUSED)
def test_an_invalid_payload_or_tag_is_refused(package: ModuleType, union: str, message: Any) -> None:
    with pytest.raises(ValidationError):
        parse(getattr(package, union), message)


@pytest.mark.parametrize(("name", "keywords", "tags"), BUILT)
def test_a_constructed_member_dumps_its_tags(package: ModuleType, name: str, keywords: Any, tags: Any) -> None:
    assert dump(getattr(package, name)(**keywords)) == keywords | tags


def test_a_property_holds_the_member_of_its_union(package: ModuleType) -> None:
    holder = package.Holder.model_validate_json('{"block": {"type": "resource_link", "uri": "u"}}')
    assert type(holder.block) is package.BlockResourceLink


def test_an_open_member_takes_no_known_tag(package: ModuleType) -> None:
    with pytest.raises(ValidationError):
        package.OpenOther(type="text", size=True)


def test_an_invalid_tag_selects_the_member_without_a_tag_if_it_is_tolerated(package: ModuleType) -> None:
    parsed = parse(package.Idle, {"stopReason": 5})
    assert (type(parsed), dump(parsed)) == (package.IdleNone, {})


def test_descriptions_reach_the_docstrings(generate: Generate) -> None:
    block = {
        "description": "A block.",
        "anyOf": [
            {"description": "Said aloud.", **tagged("type", "text", "Text")},
            {"title": "link", "description": "Points elsewhere.", **wraps("Link")},
            {"description": "Own.\n\nNew.", "deprecated": True, **tagged("type", "file", "BlockFile")},
        ],
    }
    own = {"Text": {"description": "Words.", **TEXT}, "BlockFile": {"description": "Own.", **LINK}}
    package = generate({**own, "Link": LINK, "Block": block})
    assert package.Text.__doc__ == "Words."
    assert package.BlockText.__doc__ == "Said aloud."
    assert inspect.getdoc(package.BlockFile) == "Own.\n\nNew.\n\nDeprecated."
