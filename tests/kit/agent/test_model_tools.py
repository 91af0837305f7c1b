"""A model's call of a tool either fits a function, or is answered with its mistake."""

from __future__ import annotations

from typing import Any

import pytest

from acp_kit.agent import call_tool
from acp_runtime import InvalidParams
from tests.support.kit.turns import updates_of


async def write(turn: str, path: str, text: str = "") -> str:
    return f"{turn} {path} {text}"


@pytest.mark.parametrize("arguments", ['{"path": "a", "text": "b"}', {"path": "a", "text": "b"}])
async def test_the_function_gets_the_arguments_as_keywords(arguments: Any) -> None:
    assert await call_tool({"write": write}, "write", arguments, "turn") == "turn a b"


async def test_an_empty_text_means_no_arguments() -> None:
    async def stop() -> str:
        return "stopped"

    assert await call_tool({"stop": stop}, "stop", "") == "stopped"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("delete", "{}", r"There is no tool 'delete'\. The tools are write\."),
        ("write", '{"path": ', r"The arguments of write must be a JSON object: Expecting value"),
        ("write", "[1]", r"must be a JSON object: they are not an object\."),
        ("write", "[" * 100_000, r"must be a JSON object: "),
        ("write", "null", r"must be a JSON object"),
        ("write", "{}", r"Wrong arguments of write: missing a required argument: 'path'\."),
        ("write", '{"path": "a", "mode": 1}', r"Wrong arguments of write: got an unexpected keyword argument 'mode'\."),
        ("write", '{"path": "a", "turn": 1}', r"Wrong arguments of write: multiple values for argument 'turn'\."),
    ],
)
async def test_a_wrong_call_is_a_failed_tool_call_whose_text_says_why(name: str, arguments: str, message: str) -> None:
    async def act(turn: Any) -> None:
        with pytest.raises(InvalidParams, match=message):
            async with turn.tool_call(name, tool=name, raw_input=arguments):
                await call_tool({"write": write}, name, arguments, turn)

    start, end = await updates_of(act)
    assert (start.raw_input, end.status) == (arguments, "failed")
    assert str(end.content[0].content.text)


async def test_an_error_of_the_function_itself_is_its_own() -> None:
    async def fails() -> None:
        raise TypeError("inside")

    with pytest.raises(TypeError, match="inside"):
        await call_tool({"fails": fails}, "fails", "{}")
