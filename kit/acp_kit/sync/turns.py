"""One turn of a client's session, without `await`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from acp_kit.client import turns
from acp_kit.sync.callbacks import Callbacks
from acp_kit.sync.event_loop import EventLoopThread
from acp_runtime import ConnectionClosed

if TYPE_CHECKING:
    from acp_bindings.v1 import PromptResponse, SessionUpdate, StopReason

R = TypeVar("R")


class SyncTurn:
    """One turn. Use it in a `with` block, and read its updates with `for`.

    Leaving the block before the turn has ended cancels the turn and waits for its end, also after Ctrl-C. Another
    thread may call `cancel`. Adjacent chunks of text that were not read yet are merged.
    """

    def __init__(self, thread: EventLoopThread[Any], callbacks: Callbacks, turn: turns.Turn) -> None:
        self._thread = thread
        self._callbacks = callbacks
        self._turn = turn

    @property
    def text(self) -> str:
        """All text of the agent's messages in this turn so far, without thoughts, as it was sent."""
        return self._thread.read(lambda: self._turn.text)

    @property
    def response(self) -> PromptResponse | None:
        """The agent's response; None while the turn runs, or if there was none."""
        return self._thread.read(lambda: self._turn.response)

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the turn ended; None while it runs, or if there was no response."""
        return self._thread.read(lambda: self._turn.stop_reason)

    @property
    def cancelled(self) -> bool:
        """Whether this side has cancelled the turn, regardless of the agent's response."""
        return self._thread.read(lambda: self._turn.cancelled)

    @property
    def ended(self) -> bool:
        """Whether the agent has answered. Some updates may not have been read yet."""
        return self._thread.read(lambda: self._turn.ended)

    def __enter__(self) -> SyncTurn:
        try:
            self._thread.call(self._turn.__aenter__)
        except KeyboardInterrupt as error:
            with suppress(RuntimeError):  # it has not begun
                self.__exit__(KeyboardInterrupt, error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._thread.call(self._turn.__aexit__, kind, error, traceback)
        except ConnectionClosed:
            if error is None and self.response is None:
                raise

    def __iter__(self) -> SyncTurn:
        return self

    def __next__(self) -> SessionUpdate:
        async def next_update() -> SessionUpdate | None:
            return await anext(self._turn, None)

        update = self._wait(next_update)
        if update is None:
            raise StopIteration
        return update

    def wait(self, timeout: float | None = None) -> PromptResponse:
        """Wait for the end of the turn without reading its updates. They are in the session's state.

        Args:
            timeout: how long to wait, in seconds.

        Raises:
            TimeoutError: if the turn hasn't ended by then. It continues until its block is left.
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has ended.
            RuntimeError: if the block was left before the agent answered.
        """
        return self._wait(self._turn.wait, timeout)

    def cancel(self) -> None:
        """Ask the agent to end the turn. It may still send updates before its response.

        Does nothing if the turn has ended.
        """
        self._thread.call(self._turn.cancel)

    def _wait(self, method: Callable[[], Awaitable[R]], timeout: float | None = None) -> R:
        return self._callbacks.wait(self._thread, method, timeout)
