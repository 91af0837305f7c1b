"""Waiting for the user's answer to a request of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class DialogCancelled(Exception):
    """The callback was cancelled, but not the request."""


async def answer_of(ask: Callable[[Q], Awaitable[A]], request: Q) -> A:
    """Return the user's answer, unless the request was cancelled meanwhile: then it doesn't count.

    Raises:
        CancelledError: if this task was cancelled.
        DialogCancelled: if something else cancelled the callback.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    # A loop over the turn that waits for updates has been woken by those before this request: let it read them.
    await asyncio.sleep(0)
    try:
        answer = await ask(request)
    except asyncio.CancelledError as error:
        if task.cancelling() > before:
            raise
        raise DialogCancelled from error
    if task.cancelling() > before:
        raise asyncio.CancelledError
    return answer
