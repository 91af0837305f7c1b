"""The JSON in the protocol reference is valid: for the schema, and for the models, which dump the same again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

import acp_bindings.v1
from tests.support.codegen.reference import Block, at, blocks, raw_schema, schema
from tests.support.models.validity import Validity

METHODS = {each.wire: each for each in schema().methods}
VALIDITY = Validity(raw_schema())
BLOCKS = blocks("json")
TYPES = [each for each in BLOCKS if each.heading != "Messages"]


def _check(name: str, value: Any) -> None:
    """Check a value against the schema of a type, and against our model of it."""
    assert VALIDITY.holds(at(raw_schema(), schema().definitions[name].pointer), value)
    adapter = TypeAdapter[Any](getattr(acp_bindings.v1, name))
    assert json.loads(adapter.dump_json(adapter.validate_python(value), by_alias=True)) == value


@pytest.mark.parametrize("wire", METHODS)
def test_the_messages_of_a_method_are_valid(wire: str) -> None:
    method = METHODS[wire]
    found = [
        json.loads(each.text)
        for each in BLOCKS
        if each.page == f"{method.constant.lower()}.md"
        if each.heading == "Messages"
    ]
    request, *responses = found
    assert [VALIDITY.holds(raw_schema(), message) for message in found] == [True] * len(found)
    assert request["method"] == wire
    _check(method.params, request["params"])
    assert len(responses) == (method.result is not None) == ("id" in request)
    for response in responses:
        assert response["id"] == request["id"]
        _check(method.result or "", response["result"])


@pytest.mark.parametrize("block", TYPES, ids=lambda each: each.heading)
def test_the_example_of_a_type_is_valid(block: Block) -> None:
    _check(block.heading, json.loads(block.text))
