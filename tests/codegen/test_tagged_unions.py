"""Tagged unions: the names of their members, and the member that a message becomes."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.codegen.build import STRING, model, other, ref, tagged, wraps
from tests.support.codegen.generating import Generate

TEXT = model(["text"], text=STRING)
LINK = model(["uri"], uri=STRING)


def parse(union: Any, message: Any) -> Any:
    return TypeAdapter(union).validate_json(json.dumps(message))


def dump(value: Any) -> Any:
    return json.loads(value.model_dump_json())


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    """`Block` is a closed union, `Open` an open one."""
    block = {
        "oneOf": [tagged("type", "text", "Text"), tagged("type", "resource_link", "Link")],
        "discriminator": {"propertyName": "type"},
    }
    opened = {"anyOf": [tagged("type", "text", "Text"), other("type", "text", size={"type": "boolean"})]}
    holder = model(["block"], block=ref("Block"))
    return generate_once({"Text": TEXT, "Link": LINK, "Block": block, "Open": opened, "Holder": holder})


def test_a_member_is_named_by_its_union_and_its_tag_and_derives_from_what_it_wraps(package: ModuleType) -> None:
    assert issubclass(package.BlockText, package.Text)
    assert issubclass(package.BlockResourceLink, package.Link)


def test_a_constructed_member_dumps_its_tag(package: ModuleType) -> None:
    assert dump(package.BlockResourceLink(uri="u")) == {"type": "resource_link", "uri": "u"}


def test_a_message_becomes_the_member_its_tag_names(package: ModuleType) -> None:
    holder = package.Holder.model_validate_json('{"block": {"type": "resource_link", "uri": "u"}}')
    assert type(holder.block) is package.BlockResourceLink


@pytest.mark.parametrize("message", [{"type": "text", "uri": "u"}, {"type": "video", "text": "x"}, {"text": "x"}])
def test_a_closed_union_refuses_an_invalid_payload_an_unknown_tag_and_no_tag(
    package: ModuleType, message: object
) -> None:
    with pytest.raises(ValidationError):
        parse(package.Block, message)


def test_an_unknown_tag_becomes_the_open_member_with_its_whole_payload(package: ModuleType) -> None:
    message = {"type": "video", "size": True, "frames": [1, {"a": None}]}
    found = parse(package.Open, message)
    assert type(found) is package.OpenOther
    assert dump(found) == message


@pytest.mark.parametrize("message", [{"type": "text"}, {"type": "text", "size": True}, {"type": "video"}])
def test_an_open_union_refuses_invalid_payloads_of_known_and_unknown_tags(package: ModuleType, message: object) -> None:
    with pytest.raises(ValidationError):
        parse(package.Open, message)


def test_an_open_member_takes_further_keywords_but_no_known_tag(package: ModuleType) -> None:
    assert dump(package.OpenOther(type="video", size=True, frames=2)) == {"type": "video", "size": True, "frames": 2}
    with pytest.raises(ValidationError):
        package.OpenOther(type="text", size=True)


def test_a_member_without_a_tag_is_tried_after_those_that_have_one(generate: Generate) -> None:
    server = {"anyOf": [tagged("type", "http", "Link"), {"title": "stdio", **wraps("Text")}]}
    package = generate({"Text": TEXT, "Link": LINK, "Server": server})
    assert type(parse(package.Server, {"type": "http", "uri": "u"})) is package.ServerHttp
    assert type(parse(package.Server, {"text": "x"})) is package.Text
    assert type(parse(package.Server, {"type": "http", "text": "x"})) is package.Text  # the schema allows it
    with pytest.raises(ValidationError):
        parse(package.Server, {"type": "http"})


def test_every_member_has_the_common_properties_of_its_union(generate: Generate) -> None:
    option = {
        **model(["id"], id=STRING, note={"type": ["string", "null"]}),
        "anyOf": [tagged("type", "text", "Text"), other("type", "text")],
    }
    package = generate({"Text": TEXT, "Option": option})
    assert dump(package.OptionText(id="1", text="x")) == {"id": "1", "type": "text", "text": "x"}
    assert parse(package.Option, {"id": "1", "type": "new", "note": "n"}).note == "n"
    with pytest.raises(ValidationError):
        parse(package.Option, {"type": "text", "text": "x"})


def test_a_tag_is_added_to_the_wrapped_definition_if_the_member_has_its_name(generate: Generate) -> None:
    package = generate(
        {"BlockText": TEXT, "Block": {"anyOf": [tagged("type", "text", "BlockText"), other("type", "text")]}}
    )
    assert dump(package.BlockText(text="x")) == {"type": "text", "text": "x"}
    assert type(parse(package.Block, {"type": "text", "text": "x"})) is package.BlockText


def test_unions_nest_three_levels_deep(generate: Generate) -> None:
    package = generate(
        {
            "Text": TEXT,
            "Stop": {**model(note=STRING), "anyOf": [tagged("reason", "end"), tagged("reason", "error", "Text")]},
            "State": {"anyOf": [tagged("state", "idle", "Stop"), other("state", "idle")]},
            "Update": {"anyOf": [tagged("update", "state", "State"), tagged("update", "text", "Text")]},
        }
    )
    message = {"update": "state", "state": "idle", "reason": "error", "text": "x", "note": "n"}
    found = parse(package.Update, message)
    assert type(found) is package.UpdateStateIdleError
    assert dump(found) == message
    assert dump(package.UpdateStateIdleEnd()) == {"update": "state", "state": "idle", "reason": "end"}
    assert type(parse(package.Update, {"update": "state", "state": "new"})) is package.UpdateStateOther
    with pytest.raises(ValidationError):
        parse(package.Update, {"update": "state", "state": "idle", "reason": "new"})


def test_a_union_of_unions_takes_the_first_that_matches(generate: Generate) -> None:
    package = generate(
        {
            "Text": TEXT,
            "Link": LINK,
            "First": {"anyOf": [tagged("a", "x", "Text"), tagged("a", "y", "Link")]},
            "Second": {"anyOf": [tagged("b", "x", "Text"), other("b", "x")]},
            "Both": {"anyOf": [{"title": "first", **wraps("First")}, {"title": "second", **wraps("Second")}]},
        }
    )
    assert type(parse(package.Both, {"a": "y", "uri": "u"})) is package.FirstY
    assert type(parse(package.Both, {"b": "new"})) is package.SecondOther


def test_a_null_absent_or_invalid_tag_selects_the_member_without_a_tag(generate: Generate) -> None:
    idle = {
        **model(
            note=STRING,
            stopReason={"type": ["string", "null"], "x-deserialize-default-on-error": True},
        ),
        "anyOf": [
            tagged("stopReason", "error", "Text"),
            other("stopReason", "error"),
            {"title": "none", **model(stopReason={"type": "null"})},
        ],
    }
    package = generate({"Text": TEXT, "Idle": idle})
    for message, expected in (({"stopReason": None}, {"stopReason": None}), ({}, {}), ({"stopReason": 5}, {})):
        found = parse(package.Idle, message)
        assert type(found) is package.IdleNone
        assert dump(found) == expected
    assert type(parse(package.Idle, {"stopReason": "error", "text": "x"})) is package.IdleError
    assert type(parse(package.Idle, {"stopReason": "new"})) is package.IdleOther
    with pytest.raises(ValidationError):
        parse(package.Idle, {"stopReason": "error"})


def test_an_open_member_that_wraps_definitions_keeps_and_takes_unknown_keys(generate: Generate) -> None:
    request = {
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
    package = generate({"Text": TEXT, "Link": LINK, "Ask": request})
    message = {"mode": "poll", "uri": "u", "choices": [1]}
    assert dump(parse(package.Ask, message)) == message
    assert dump(package.AskOtherLink(mode="poll", uri="u", choices=[1])) == message


def test_a_one_of_without_a_tag_refuses_a_message_that_two_members_match(generate: Generate) -> None:
    package = generate(
        {
            "Text": TEXT,
            "Link": LINK,
            "Scope": {"oneOf": [{"title": "text", **wraps("Text")}, {"title": "link", **wraps("Link")}]},
        }
    )
    assert type(parse(package.Scope, {"uri": "u"})) is package.Link
    with pytest.raises(ValidationError):
        parse(package.Scope, {"uri": "u", "text": "x"})


def test_titled_members_become_classes_of_their_own(generate: Generate) -> None:
    value = {"anyOf": [{"title": "Flag", **model(["on"], on={"type": "boolean"})}, {"title": "level", **wraps("Text")}]}
    package = generate({"Text": TEXT, "Value": value})
    assert dump(package.ValueFlag(on=True)) == {"on": True}
    assert type(parse(package.Value, {"text": "x"})) is package.Text


def test_descriptions_reach_the_docstrings(generate: Generate) -> None:
    block = {
        "description": "A block.",
        "anyOf": [
            {"description": "Said aloud.", **tagged("type", "text", "Text")},
            {"title": "link", "description": "Points elsewhere.", **wraps("Link")},
        ],
    }
    package = generate({"Text": {"description": "Words.", **TEXT}, "Link": LINK, "Block": block})
    assert package.Text.__doc__ == "Words."
    assert package.BlockText.__doc__ == "Said aloud."
