"""Limits how long an agent may take to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from acp_runtime.escaping import printable, printable_lines

if TYPE_CHECKING:
    from acp_bindings.v1 import RemoteAgent


@asynccontextmanager
async def answered_within(seconds: float | None, agent: RemoteAgent, method: str) -> AsyncGenerator[None]:
    """Limit the time of a block that waits for an agent's answer to a method.

    Raises:
        TimeoutError: if the block takes longer. The message names the command of the agent, and has the end of its
            stderr.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        who, process = "The agent", agent.process
        if process is not None:
            who = f"The agent {printable(process.command)!r}"
        message = f"{who} did not answer `{method}` within {seconds:g} seconds."
        if process is not None and (tail := process.stderr_tail.strip()):
            message += f" The end of its stderr:\n{printable_lines(tail)}"
        raise TimeoutError(message) from error
