"""Shapes that no pinned schema has, from the schema to a message over a connection."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.codegen.build import STRING, initialize, model, ref, request, tagged
from tests.support.codegen.generating import Generate

pytestmark = pytest.mark.slow

TEXT = model(["text"], text=STRING)


def test_a_union_with_one_member_takes_that_member_only(generate: Generate) -> None:
    block = {"oneOf": [tagged("type", "text", "Text")], "discriminator": {"propertyName": "type"}}
    package = generate({"Text": TEXT, "Block": block, "Holder": model(["block"], block=ref("Block"))})
    holder = package.Holder.model_validate_json('{"block":{"type":"text","text":"a"}}')
    assert holder.block == package.BlockText(text="a")
    assert package.Holder(block=package.BlockText(text="a")) == holder
    with pytest.raises(ValidationError):
        TypeAdapter(package.Block).validate_json('{"type":"image","text":"a"}')


@pytest.mark.parametrize("value", [None, 5, [1, {"a": None}], {"x": "y"}, "text"])
async def test_a_result_of_any_json_arrives_as_it_was_returned(generate: Generate, value: Any) -> None:
    package = generate(initialize() | request("mcp/message", "Ping", model(value={}), {}, "both"))

    class Agent(package.Agent):  # type: ignore[misc,name-defined]
        async def initialize(self, request: Any) -> Any:
            return package.InitializeResponse(protocol_version=1)

        async def mcp_message(self, request: Any) -> Any:
            return request.value

    async with package.connect_in_process(lambda _: Agent(), lambda _: package.Client()) as agent:
        await agent.initialize(protocol_version=1)
        assert await agent.mcp_message(value=value) == value
