"""Calls the function of a tool with the arguments that a model gave for it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from inspect import signature
from typing import Any

from acp_runtime import InvalidParams


async def call_tool(
    tools: Mapping[str, Callable[..., Awaitable[Any]]], name: str, arguments: str | Mapping[str, Any], *before: Any
) -> Any:
    """Call the function of a tool with the arguments that a model gave for it.

    Models may name a tool that doesn't exist, or give wrong arguments. Call this in the block of the tool call, so that
    the tool call fails and the model reads why:

        async with turn.tool_call(name, tool=name, raw_input=arguments, tool_call_id=id) as call:
            await call_tool({"read_file": self.read_file}, name, arguments, turn, call)

    Args:
        tools: the functions by the names that the model knows.
        name: the tool that the model wants.
        arguments: the keyword arguments for the function, as JSON or decoded. An empty text means none.
        before: positional arguments that come first, such as the turn.

    Returns:
        What the function returns.

    Raises:
        InvalidParams: if there is no such tool, the arguments are not a JSON object, or the function doesn't accept
            them. Their types are not checked.
    """
    function = tools.get(name)
    if function is None:
        raise InvalidParams(f"There is no tool {name!r}. The tools are {', '.join(tools) or 'none'}.")
    try:
        keywords: Any = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        if not isinstance(keywords, Mapping):
            raise ValueError("they are not an object")
    except (ValueError, RecursionError) as error:
        raise InvalidParams(f"The arguments of {name} must be a JSON object: {error}.") from error
    try:
        signature(function).bind(*before, **keywords)
    except TypeError as error:
        raise InvalidParams(f"Wrong arguments of {name}: {error}.") from error
    return await function(*before, **keywords)
