"""Limits how long an agent may take to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from acp_runtime.escaping import printable, printable_lines

if TYPE_CHECKING:
    from acp_bindings.v1 import RemoteAgent

NEEDS_ARGUMENT = "Most agents speak ACP only with an argument, such as --acp."


@asynccontextmanager
async def time_limit(seconds: float | None, explain: Callable[[], str]) -> AsyncGenerator[None]:
    """Limit the time of a block. `explain` returns the message of the TimeoutError."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(explain()) from error


def answered_within(
    seconds: float | None, agent: RemoteAgent, method: str
) -> AbstractAsyncContextManager[None, bool | None]:
    """Limit the time of a block that waits for an agent's response to a method.

    The message of the TimeoutError has the command of the agent and the end of its stderr.
    """

    def explain() -> str:
        process = agent.process
        name = "The agent" if process is None else f"The agent {printable(process.command)!r}"
        message = f"{name} did not answer `{method}` within {seconds:g} seconds."
        if method == "initialize":
            message += f" {NEEDS_ARGUMENT}"
        if process is not None and (tail := process.stderr_tail.strip()):
            message += f" The end of its stderr:\n{printable_lines(tail)}"
        return message

    return time_limit(seconds, explain)
