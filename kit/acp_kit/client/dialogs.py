"""Waits for the user's answer to a request of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class DialogCancelled(Exception):
    """Something else than a cancellation of the request cancelled the callback."""


async def wait_for_answer(ask: Callable[[Request], Awaitable[Answer]], request: Request) -> Answer:
    """Call `ask` with a request, and return the user's answer.

    Raises:
        CancelledError: if the request was cancelled meanwhile, even if `ask` has returned an answer.
        DialogCancelled: if something else cancelled the callback.
    """
    task = asyncio.current_task()
    assert task is not None
    cancellations = task.cancelling()
    # Lets a loop over the turn read the updates that came before this request.
    await asyncio.sleep(0)
    try:
        answer = await ask(request)
    except asyncio.CancelledError as error:
        if task.cancelling() > cancellations:
            raise
        raise DialogCancelled from error
    if task.cancelling() > cancellations:
        raise asyncio.CancelledError
    return answer
