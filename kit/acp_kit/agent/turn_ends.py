"""The end of a turn: what it has begun and not ended, and whether the user cancelled it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from acp_runtime import current_request

if TYPE_CHECKING:
    from acp_kit.agent.tool_calls import ToolCall


async def cancel(running: Collection[asyncio.Task[Any]]) -> None:
    """End the commands that other tasks of the turn still run."""
    for each in running:
        each.cancel()
    if running:
        await asyncio.wait(running)


async def end(unfinished: Collection[ToolCall], error: BaseException | None) -> None:
    """End the tool calls that `ToolCall.start` began, each of them also if the end of another one fails."""
    failure: BaseException | None = None
    for call in [*unfinished]:
        try:
            if error is None:
                await call.end("Not finished", failed=True)
            else:
                await call.__aexit__(type(error), error, None)
        except (Exception, asyncio.CancelledError) as raised:
            failure = raised
    if failure is not None:
        raise failure


def has_user_cancelled() -> bool:
    """Whether the client has cancelled the turn that this code runs in."""
    request = current_request()
    return request is not None and request.turn_cancelled
