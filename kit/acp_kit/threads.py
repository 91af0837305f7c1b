"""Calls a peer from a worker thread, for code that isn't asynchronous."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, NoReturn, ParamSpec, TypeVar

from acp_runtime import Remote

P = ParamSpec("P")
R = TypeVar("R")

# How often a waiting thread checks that the event loop still runs, in seconds.
_POLL_INTERVAL = 1.0


class FromThread:
    """Calls coroutine functions in the event loop of a connection, and blocks the thread until they return.

    For example:

        call = from_thread(self.client)
        await asyncio.to_thread(work, call)

        def work(call: FromThread) -> None:
            call(client.session_update, session_id=session_id, update=update)

    A waiting thread occupies its pool. If the called method also needs a thread of that pool, as `Turn.read_text_file`
    does for files on the disk, keep one free, or run `work` in its own executor.
    """

    def __init__(self, proxy: Remote, start_deadline: float) -> None:
        self._loop = proxy.event_loop
        self._start_deadline = start_deadline

    def __call__(self, method: Callable[P, Awaitable[R]], /, *args: P.args, **keywords: P.kwargs) -> R:
        """Call a method of the proxy, or any other coroutine function for its event loop, and return its result.

        Raises:
            RuntimeError: if this thread runs an event loop, or the event loop of the connection doesn't run. Nothing
                was sent.
            CancelledError: if the event loop ended before the method returned.
        """
        refuse_event_loop("Await the method instead, or call from a thread without one: await asyncio.to_thread(...).")
        if not self._loop.is_running():
            raise RuntimeError("The event loop of the connection does not run any more. Nothing was sent.")
        return call_in(self._loop, lambda: method(*args, **keywords), self._start_deadline)


def from_thread(proxy: Remote, *, start_deadline: float = 30.0) -> FromThread:
    """Return a function that calls methods of a proxy from a worker thread.

    Args:
        proxy: the proxy, such as an agent's `RemoteClient`.
        start_deadline: how long the event loop may take to begin a call, in seconds. If it takes longer, the event loop
            is probably blocked by code that waits for this thread, such as `thread.join()` in a handler. Then the call
            is abandoned, and nothing is sent.
    """
    return FromThread(proxy, start_deadline)


def call_in(
    loop: asyncio.AbstractEventLoop,
    begin: Callable[[], Awaitable[R]],
    start_deadline: float,
    schedule: Callable[[Callable[[], object]], object] | None = None,
) -> R:
    """Await an awaitable in the event loop of another thread, and return its result.

    If this thread is interrupted, as by Ctrl-C, the awaitable is cancelled.

    Args:
        loop: the event loop.
        begin: called in the event loop, returns the awaitable.
        start_deadline: how long the event loop may take to call it, in seconds.
        schedule: used instead of `loop.call_soon_threadsafe`.
    """
    call = _Call(begin)
    try:
        (schedule or loop.call_soon_threadsafe)(call.start)
        if not call.wait_for_start(start_deadline):
            raise RuntimeError(
                f"The event loop of the connection has not run for {start_deadline:g} seconds. Is it waiting for this "
                "thread? Wait for threads with `await asyncio.to_thread(...)`. Nothing was sent."
            )
        return wait_for(call.outcome, loop)
    except BaseException:
        call.abandon()
        with suppress(RuntimeError):  # the event loop was closed
            loop.call_soon_threadsafe(call.cancel)
        raise


class _Call(Generic[R]):
    """A call from a thread into an event loop.

    Either the event loop begins it or the thread abandons it, never both. With `run_coroutine_threadsafe`, an abandoned
    call could still send its message. `concurrent.futures` isn't used, because Ctrl-C may leave its locks locked.

    Attributes:
        outcome: gets a function that returns the result or raises the error.
    """

    def __init__(self, begin: Callable[[], Awaitable[R]]) -> None:
        self.outcome: SimpleQueue[Callable[[], R]] = SimpleQueue()
        self._unbegun = [begin]  # `pop` is atomic
        self._has_begun: SimpleQueue[None] = SimpleQueue()
        self._task: asyncio.Task[R] | None = None

    def start(self) -> None:
        """Begin the call in the event loop, unless it was abandoned."""
        with suppress(IndexError):
            begin = self._unbegun.pop()
            self._task = asyncio.ensure_future(_await(begin))
            self._task.add_done_callback(self._settle)
            self._has_begun.put(None)

    def wait_for_start(self, deadline: float) -> bool:
        """Wait in the thread until the call has begun. Return False if it was abandoned after the deadline."""
        with suppress(Empty):
            self._has_begun.get(timeout=deadline)
        return not self.abandon()

    def abandon(self) -> bool:
        """Abandon the call, unless it has begun. Return whether this abandoned it."""
        try:
            self._unbegun.pop()
        except IndexError:
            return False
        return True

    def cancel(self) -> None:
        """Cancel the call in the event loop."""
        if self._task is not None:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[R]) -> None:
        self._task = None
        error = CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self.outcome.put(partial(_return, task.result()))
        else:
            self.outcome.put(partial(throw, error))


async def _await(begin: Callable[[], Awaitable[R]]) -> R:
    return await begin()


def refuse_event_loop(instead: str) -> None:
    """Raise RuntimeError if this thread runs an event loop, unless a user types the program.

    In a notebook, cells run in the event loop of the kernel. A cell that blocks is what the user waits for, and the
    kernel is interrupted and restarted from another thread. Python sets `sys.ps1` if it is used interactively; so does
    IPython.

    Args:
        instead: the last sentence of the message, which says what to call instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if not hasattr(sys, "ps1"):
        raise RuntimeError(f"This thread runs an event loop, which would stop while this call waits. {instead}")


def wait_for(outcome: SimpleQueue[Callable[[], R]], loop: asyncio.AbstractEventLoop | None = None) -> R:
    """Wait until an event loop puts a function into a queue, and return its result.

    Raises:
        RuntimeError: if the event loop stopped before.
    """
    while True:
        try:
            result = outcome.get(timeout=_POLL_INTERVAL)
        except Empty:
            if loop is not None and not loop.is_running() and outcome.empty():
                raise RuntimeError("The event loop of the connection stopped before the method returned.") from None
        else:
            return result()


def throw(error: BaseException) -> NoReturn:
    """Raise an error."""
    raise error


def _return(value: R) -> R:
    return value
