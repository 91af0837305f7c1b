"""Callbacks that block, such as a question to the user. They run in the thread that waits for the turn.

So a callback can use `input`, a debugger, or a database connection of the program's thread, and Ctrl-C ends it. The
event loop runs meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from logging import getLogger
from time import monotonic
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from acp_kit.sync.event_loop import EventLoopThread

R = TypeVar("R")
RequestT = TypeVar("RequestT", bound="SessionRequest")

_logger = getLogger(__name__)

_callbacks_of_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Callbacks]] = WeakKeyDictionary()


class SessionRequest(Protocol):
    """A request that names its session."""

    @property
    def session_id(self) -> str:
        """The id of the session."""
        ...


def in_waiting_thread(function: Callable[[RequestT], R]) -> Callable[[RequestT], Awaitable[R]]:
    """Let a handler of a client call a blocking function, such as one that asks the user with `input`.

    For example:

        class MyClient(UpdateHandlers, PermissionHandlers, Client):
            def __init__(self, agent: RemoteAgent) -> None:
                self.agent = agent
                self.permissions = PermissionPolicy(allow(kinds={"read"}), ask=in_waiting_thread(ask_user))

    The function runs in the thread that waits for the turn: in `session.ask`, in `turn.wait`, or in the loop over the
    turn, after earlier updates. Until a thread waits there, the request waits.

    Args:
        function: called with a request that has a `session_id`.

    Returns:
        A function that returns an awaitable. It raises RuntimeError for a session that `SyncAgent.open_session` hasn't
        opened.
    """

    async def call(request: RequestT) -> R:
        callbacks = _callbacks_of_sessions.get(asyncio.get_running_loop(), {}).get(request.session_id)
        if callbacks is None:
            raise RuntimeError(f"The session {request.session_id!r} was not opened with `open_session` of this agent.")
        return await callbacks.call(function, request)

    return call


class Callbacks:
    """The callbacks of a session that wait until a thread calls them. Create it in the event loop.

    Args:
        session_id: the session.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._waiting: deque[_Callback] = deque()
        self._changed = asyncio.Event()
        self._sessions = _callbacks_of_sessions.setdefault(asyncio.get_running_loop(), {})
        self._sessions[session_id] = self

    def close(self) -> None:
        """Accept no more callbacks."""
        if self._sessions.get(self._session_id) is self:
            del self._sessions[self._session_id]

    async def call(self, function: Callable[[Any], R], request: Any) -> R:
        """Let a waiting thread call a function, and return its result."""
        callback = _Callback(function, request)
        self._waiting.append(callback)
        self._changed.set()
        try:
            result: R = await callback.result
            return result
        finally:
            self._take(callback)

    def wait(self, thread: EventLoopThread[Any], method: Callable[[], Awaitable[R]], timeout: float | None = None) -> R:
        """Call a coroutine function in the event loop. Until it returns, run callbacks in this thread.

        Args:
            thread: the event loop.
            method: the coroutine function. It is cancelled for each callback, and called again afterwards.
            timeout: how long this may take, in seconds, including the callbacks.

        Raises:
            TimeoutError: if it takes longer.
        """
        end = None if timeout is None else monotonic() + timeout
        while True:
            rest = None if end is None else max(0, end - monotonic())
            outcome = thread.call(self._result_or_callback, method, rest)
            if not isinstance(outcome, _Callback):
                return outcome[0]
            if self._take(outcome):
                outcome.run()

    async def _result_or_callback(
        self, method: Callable[[], Awaitable[R]], timeout: float | None
    ) -> tuple[R] | _Callback:
        result = asyncio.ensure_future(method())
        callback = asyncio.ensure_future(self._next())
        try:
            await asyncio.wait({result, callback}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return (result.result(),)
            if callback.done():
                return callback.result()
            raise TimeoutError("The turn has not ended in time.")
        finally:
            result.cancel()
            callback.cancel()

    async def _next(self) -> _Callback:
        while not self._waiting:
            self._changed.clear()
            await self._changed.wait()
        return self._waiting[0]

    def _take(self, callback: _Callback) -> bool:
        """Take a callback out of the queue. Return whether it was there, so that only one thread calls it."""
        try:
            self._waiting.remove(callback)
        except ValueError:
            return False
        return True


class _Callback:
    def __init__(self, function: Callable[[Any], Any], request: Any) -> None:
        self._function = function
        self._request = request
        self._loop = asyncio.get_running_loop()
        self.result: asyncio.Future[Any] = self._loop.create_future()

    def run(self) -> None:
        """Call the function in this thread."""
        try:
            result = self._function(self._request)
        except StopIteration as error:  # such as from `next`; a future would refuse it
            failure = RuntimeError("A callback has raised StopIteration")
            failure.__cause__ = error
            self._settle(self._fail, failure)
        except Exception as error:
            self._settle(self._fail, error)
        except BaseException:  # such as Ctrl-C, which also ends the wait of this thread
            self._settle(self.result.cancel)
            raise
        else:
            self._settle(self._succeed, result)

    def _succeed(self, result: Any) -> None:
        if not self.result.done():
            self.result.set_result(result)

    def _fail(self, error: Exception) -> None:
        if self.result.done():
            _logger.error("A callback has failed after its request was cancelled", exc_info=error)
        else:
            self.result.set_exception(error)

    def _settle(self, settle: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the event loop was closed
            self._loop.call_soon_threadsafe(settle, *args)
