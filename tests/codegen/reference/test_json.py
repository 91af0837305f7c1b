"""The JSON in the protocol reference is valid: for the schema, and for the models, which dump the same again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

import acp_bindings.v1
from codegen.diff.compare.pointers import resolve
from codegen.ir import Method
from tests.support.codegen.reference import blocks, messages, schema
from tests.support.models.modules import raw_schema
from tests.support.models.validity import Validity

# The group shares the pages.
pytestmark = pytest.mark.xdist_group("reference")


@pytest.fixture(scope="module")
def validity() -> Validity:
    return Validity(raw_schema("v1"))


def test_the_messages_of_a_method_are_valid(validity: Validity) -> None:
    pages = {f"{method.constant.lower()}.md": method for method in schema().methods}
    assert {page for page, _ in messages()} == set(pages)
    for page, method in pages.items():
        _check_messages(method, [json.loads(block.text) for place, block in messages() if place == page], validity)


def _check_messages(method: Method, received: list[Any], validity: Validity) -> None:
    request, *responses = received
    assert [validity.holds(raw_schema("v1"), message) for message in received] == [True] * len(received), method.wire
    assert request["method"] == method.wire
    _check(method.params, request["params"], validity)
    assert len(responses) == (method.result is not None) == ("id" in request)
    for response in responses:
        assert response["id"] == request["id"]
        _check(method.result or "", response["result"], validity)


def test_the_example_of_a_type_is_valid(validity: Validity) -> None:
    types = {block.heading: block.text for _, block in blocks("json") if block.heading != "Messages"}
    assert len(types) > 100
    for name, text in types.items():
        _check(name, json.loads(text), validity)


def _check(name: str, value: Any, validity: Validity) -> None:
    """Check a value against the schema of a type, and against our model of it."""
    assert validity.holds(resolve(raw_schema("v1"), schema().definitions[name].pointer), value), name
    adapter = TypeAdapter[Any](getattr(acp_bindings.v1, name))
    assert json.loads(adapter.dump_json(adapter.validate_python(value), by_alias=True)) == value
