"""Ends what a turn has begun and not ended: tool calls, and commands that other tasks run."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_kit.agent.tool_calls import ToolCall


async def cancel(running: Collection[asyncio.Task[Any]]) -> None:
    """End the commands that other tasks of the turn still run."""
    for each in running:
        each.cancel()
    if running:
        await asyncio.wait(running)


async def end(open_calls: Mapping[str, ToolCall], error: BaseException | None) -> None:
    """End the tool calls that `ToolCall.start` began, each of them also if the end of another one fails."""
    failure: BaseException | None = None
    for call in [*open_calls.values()]:
        try:
            if error is None:
                await call.end("Not finished", failed=True)
            else:
                await call.__aexit__(type(error), error, None)
        except (Exception, asyncio.CancelledError) as raised:
            failure = raised
    if failure is not None:
        raise failure
