"""An event loop in a thread of its own, in which an asynchronous context manager is open."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Generic, ParamSpec, TypeVar

from acp_kit.threads import call_in, refuse_event_loop, throw, wait_for
from acp_runtime import ConnectionClosed

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

# How long the event loop may be busy before a call begins, in seconds.
_START_DEADLINE = 30.0
# How long one wait of a thread may take, in seconds. On Windows, Ctrl-C has no effect before its end.
_POLL_INTERVAL = 1.0


class EventLoopThread(Generic[T]):
    """Enters a context manager in a new thread with an event loop. `close` leaves it there, or the exit of Python does.

    The thread is a daemon, because Python waits for other threads before it calls the functions of `atexit`.

    Args:
        context: the context manager.

    Attributes:
        value: the value of the context manager.
    """

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        refuse_event_loop("Use acp_kit.client with `await` there.")
        self._loop = asyncio.new_event_loop()
        self._has_entered = False
        self._outcome: SimpleQueue[Callable[[], T]] = SimpleQueue()
        self._closing = asyncio.Event()
        self._lock = Lock()
        self._has_ended = False
        self._task: asyncio.Task[None] | None = None
        # `join` and `is_alive` aren't used: after Ctrl-C, they may say that a running thread has ended.
        self._is_running = True
        self._thread_ended: SimpleQueue[None] = SimpleQueue()
        self._process_id = os.getpid()
        self._thread = Thread(target=self._run, args=[context], name="acp-sync", daemon=True)
        self._thread.start()
        try:
            self.value: T = wait_for(self._outcome)
        except BaseException:
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        """Whether the thread runs. It doesn't in a forked process."""
        return self._is_running and os.getpid() == self._process_id

    def call(self, method: Callable[P, Awaitable[R]], /, *args: P.args, **keywords: P.kwargs) -> R:
        """Call a coroutine function in the event loop, and return its result.

        Raises:
            RuntimeError: if this thread runs an event loop.
            ConnectionClosed: if the context manager was left.
        """
        if current_thread() is self._thread:
            raise RuntimeError("A handler of the agent's client can't wait for the agent without `await`.")
        refuse_event_loop("Use acp_kit.client with `await` there.")
        if not self.is_open:
            raise _closed()
        try:
            return call_in(self._loop, lambda: method(*args, **keywords), _START_DEADLINE, self._begin)
        except CancelledError:
            if self._closing.is_set():
                raise _closed() from None
            raise

    def read(self, read: Callable[[], R]) -> R:
        """Call a function in the event loop, or in this thread if the event loop has ended: nothing changes then."""

        async def call() -> R:
            return read()

        with suppress(ConnectionClosed):
            return self.call(call)
        return read()

    def close(self) -> None:
        """Leave the context manager, and wait until it is left. Ctrl-C meanwhile cancels its task.

        Raises:
            KeyboardInterrupt: at the end, if there was Ctrl-C meanwhile.
        """
        self.begin_close()
        interrupted: KeyboardInterrupt | None = None
        while self.is_open and current_thread() is not self._thread:
            try:
                with suppress(Empty):
                    self._thread_ended.get(timeout=_POLL_INTERVAL)
            except KeyboardInterrupt as error:
                interrupted = error
                self._schedule(self._cancel)
        if interrupted is not None:
            raise interrupted

    def begin_close(self) -> None:
        """Leave the context manager, and don't wait for it."""
        self._schedule(self._leave)

    def _begin(self, call: Callable[[], object]) -> None:
        """Schedule a call in the event loop, unless the event loop may have ended."""
        with self._lock:
            if self._has_ended:
                raise _closed()
            self._loop.call_soon_threadsafe(call)

    def _schedule(self, callback: Callable[[], object]) -> None:
        if self.is_open:
            with suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(callback)

    def _leave(self) -> None:
        self._closing.set()
        if not self._has_entered:
            self._cancel()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _run(self, context: AbstractAsyncContextManager[T]) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._hold(context))
        except BaseException as error:
            self._outcome.put(partial(throw, error))
        finally:
            atexit.unregister(self.close)
            self._is_running = False
            self._thread_ended.put(None)

    async def _hold(self, context: AbstractAsyncContextManager[T]) -> None:
        self._task = asyncio.current_task()
        if self._closing.is_set():
            raise asyncio.CancelledError
        try:
            async with context as value:
                # Python calls this before the functions that were registered earlier, one of which kills the agent.
                atexit.register(self.close)
                self._has_entered = True
                self._outcome.put(lambda: value)
                await self._closing.wait()
        finally:
            with self._lock:  # the runner cancels the calls that have begun
                self._has_ended = True


def _closed() -> ConnectionClosed:
    return ConnectionClosed("The agent was closed by this side.")
