"""Sessions with an agent, without `await`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from acp_kit.client import ClientSession, Snapshot
from acp_kit.client.sessions import Prompt
from acp_kit.client.turns import require_text
from acp_kit.sync.callbacks import Callbacks
from acp_kit.sync.event_loop import EventLoopThread
from acp_kit.sync.turns import SyncTurn
from acp_runtime import ConnectionClosed

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionConfigOption


class OpenedSession:
    """A session in its event loop."""

    session: ClientSession
    callbacks: Callbacks

    def __init__(self, sessions: set[OpenedSession]) -> None:
        self._sessions = sessions
        self._contexts = AsyncExitStack()

    async def enter(self, context: AbstractAsyncContextManager[ClientSession]) -> None:
        """Open the session."""
        self.session = await self._contexts.enter_async_context(context)
        self.callbacks = Callbacks(self.session.id)
        self._contexts.callback(self.callbacks.close)
        self._sessions.add(self)

    async def close(self) -> None:
        """Close the session. May be called twice."""
        self._sessions.discard(self)
        await self._contexts.aclose()


class SyncSession:
    """A session that `SyncAgent.open_session` has opened. `close` or the end of a `with` block closes it.

    Any thread may use it, but it has only one turn at a time: `prompt` and `ask` raise RuntimeError while a turn runs.

    Attributes:
        id: its id.
    """

    def __init__(self, thread: EventLoopThread[Any], opened: OpenedSession) -> None:
        self._thread = thread
        self.id: str = opened.session.id
        self._opened = opened

    def __repr__(self) -> str:
        return self._thread.read(lambda: repr(self._opened.session)).replace("Client", "Sync", 1)

    def __enter__(self) -> SyncSession:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def state(self) -> Snapshot:
        """Its current messages, tool calls, plan, modes and so on. It is immutable."""
        return self._thread.read(self._opened.session.state.snapshot)

    def ask(
        self, prompt: Prompt, *, timeout: float | None = None, cancel_deadline: float = 10.0, settle: float = 0.0
    ) -> str:
        """Send a prompt, wait for the end of the turn, and return the text of the agent's reply: `SyncTurn.text`.

        If this is interrupted, for example by Ctrl-C, the turn is cancelled.

        Args:
            prompt: text, a block of content, or several.
            timeout: how long the turn may take, in seconds.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.
            settle: how long the turn receives updates after the agent's response, in seconds. Some agents send text
                after it.

        Raises:
            TimeoutError: if the turn takes longer. It is cancelled.
            UnfinishedTurn: if the turn ended with another stop reason than `end_turn`, or was cancelled. It has the
                text so far.
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has ended.
            RuntimeError: if the last turn has not ended, or the session is closed.
        """
        turn = self._opened.session.prompt(prompt, cancel_deadline=cancel_deadline, settle=settle)
        with SyncTurn(self._thread, self._opened.callbacks, turn) as waiting:
            waiting.wait(timeout)
        return self._thread.read(lambda: require_text(turn))

    def prompt(self, prompt: Prompt, *, cancel_deadline: float = 10.0, settle: float = 0.0) -> SyncTurn:
        """Send a prompt: `with session.prompt("hello") as turn`.

        Args:
            prompt: text, a block of content, or several.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.
            settle: how long the turn receives updates after the agent's response, in seconds. Some agents send text
                after it.

        Raises:
            RuntimeError: when the block is entered, if the last turn has not ended, or the session is closed.
        """
        turn = self._opened.session.prompt(prompt, cancel_deadline=cancel_deadline, settle=settle)
        return SyncTurn(self._thread, self._opened.callbacks, turn)

    def cancel(self) -> None:
        """Ask the agent to end the running turn, from another thread."""
        self._thread.call(self._opened.session.cancel)

    def set_mode(self, mode_id: str) -> None:
        """Change the mode of the session, here and in `state`.

        Raises:
            RemoteError: if the agent refuses.
        """
        self._thread.call(self._opened.session.set_mode, mode_id)

    def set_config_option(self, config_id: str, value: str | bool) -> Sequence[SessionConfigOption]:
        """Change an option of the session, here and in `state`.

        Returns:
            All options with their values. Changing one may change others.

        Raises:
            RemoteError: if the agent refuses.
        """
        return self._thread.call(self._opened.session.set_config_option, config_id, value)

    def choose(self, setting: str, value: str | bool) -> None:
        """Set an option or the mode of the session, whichever the agent has, if it offers the value.

        For example: `session.choose("model", "opus")`.

        Args:
            setting: the id of an option, or its category if only one option has it; "mode" is the session's mode if no
                option has this id or category.
            value: the id of the value; for a toggle, whether it is on.

        Raises:
            ValueError: if the agent doesn't offer the setting or the value. The message lists what it offers.
            RemoteError: if the agent refuses.
            RuntimeError: if the option has another value in the agent's response.
        """
        self._thread.call(self._opened.session.choose, setting, value)

    def close(self) -> None:
        """Close the session, and tell the agent if it can close sessions. May be called twice."""
        with suppress(ConnectionClosed):  # the agent is closed already
            self._thread.call(self._opened.close)
