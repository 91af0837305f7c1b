"""A session of an agent that is written for version 2: its turns, and the states that it reports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload
from uuid import uuid4

from acp_kit.updates.adjacent_chunks import AdjacentChunks
from acp_kit.v2.profiles import check_version, class_like
from acp_runtime import ConnectionClosed, InternalError, InvalidRequest, RemoteError, RequestCancelled, RequestError

if TYPE_CHECKING:
    from acp_bindings import v2_draft as v2, v2_draft_unstable as v2_unstable

    Work: TypeAlias = Coroutine[Any, Any, v2.SessionUpdateStateUpdateIdle | None]
    UnstableWork: TypeAlias = Coroutine[Any, Any, v2_unstable.SessionUpdateStateUpdateIdle | None]
    Update: TypeAlias = v2.SessionUpdate | v2_unstable.SessionUpdate

_logger = logging.getLogger(__name__)


class Session:
    """A session of an agent: the user's messages, turns, and states. It works with any agent of version 2.

    For example:

        async def session_prompt(self, request: PromptRequest) -> PromptResponse:
            session = self.sessions[request.session_id]
            return session.prompt(request.prompt, self.answer(session, request.prompt))

        async def session_cancel(self, notification: CancelSessionNotification) -> None:
            await self.sessions[notification.session_id].cancel()

    Args:
        client: the proxy of the client.
        id: the id of the session.
        cwd: its folder.

    Attributes:
        client: the proxy of the client. Set it if another client resumes the session.
        id: the id of the session.
        cwd: its folder.
        state: the state that was sent last; `idle` at first.
        is_closed: whether it is closed, so that nothing more is sent until `resume`.
    """

    def __init__(self, client: v2.RemoteClient | v2_unstable.RemoteClient, id: str, *, cwd: str) -> None:
        check_version(client)
        self.client: v2.RemoteClient = cast("v2.RemoteClient", client)
        self.id = id
        self.cwd = cwd
        self.state: v2.SessionUpdateStateUpdate = class_like(client, "SessionUpdateStateUpdateIdleNone")()
        self.is_closed: bool = False
        self._sent: list[AdjacentChunks] = []
        self._sending = asyncio.Lock()  # what is sent during a replay follows it
        self._turn: asyncio.Task[None] | None = None
        self._is_working = False
        self._is_cancelled = False
        self._questions = 0

    @property
    def updates(self) -> list[v2.SessionUpdate]:
        """All updates that were sent, except for states, to send them again. Adjacent chunks of a text are one."""
        return [chunks.merge() for chunks in self._sent]

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running."""
        return self._turn is not None and not self._turn.done()

    @overload
    def prompt(self, content: Sequence[v2.ContentBlock], work: Work) -> v2.PromptResponse: ...
    @overload
    def prompt(self, content: Sequence[v2_unstable.ContentBlock], work: UnstableWork) -> v2_unstable.PromptResponse: ...
    def prompt(self, content: Sequence[Any], work: Coroutine[Any, Any, Any]) -> Any:
        """Accept a prompt, and return the response to it.

        The turn is a task of the connection. It sends the user's message and the state `running`, does the work, and
        sends the state `idle`: with the reason `cancelled` after `cancel`, with `error` if the work raises an
        exception, which is logged.

        Args:
            content: the prompt.
            work: the rest of the turn. It returns the state to report at the end, such as
                `SessionUpdateStateUpdateIdleMaxTokens()`; None for `end_turn`.

        Raises:
            InvalidRequest: if a turn runs, or the session is closed.
            ConnectionClosed: if the connection has ended.
        """
        if self.is_busy or self.is_closed:
            work.close()
            reason = "is closed" if self.is_closed else "is still busy with the last prompt"
            raise InvalidRequest(f"The session {reason}")
        message = self._make("SessionUpdateUserMessage", message_id=uuid4().hex, content=[*content])
        try:
            self._turn = self.client.start_task(self._run(message, work))
        except ConnectionClosed:
            work.close()
            raise
        self._turn.add_done_callback(lambda _: work.close())  # it may have been cancelled before its first step
        self._is_cancelled = False
        self._is_working = True
        return self._make("PromptResponse", message_id=message.message_id)

    async def send(self, update: Update) -> None:
        """Send an update, and keep it. Does nothing if the session is closed."""
        async with self._sending:
            if self.is_closed:
                return
            # Refuses an update of another profile.
            notification = self._make("UpdateSessionNotification", session_id=self.id, update=update)
            if update.session_update == "state_update":
                self.state = cast("v2.SessionUpdateStateUpdate", update)
            elif not (self._sent and self._sent[-1].add(update)):
                self._sent.append(AdjacentChunks(update))
            await self.client.notify(notification)

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Report the state `requires_action` inside the block, and `running` afterwards.

        Use it around a question to the user that the turn can't continue without.
        """
        self._questions += 1
        try:
            if self._questions == 1:
                await self.send(self._make("SessionUpdateStateUpdateRequiresAction"))
            yield
        finally:
            self._questions -= 1
            if self._questions == 0 and self._is_working and not self._is_cancelled:
                await self.send(self._make("SessionUpdateStateUpdateRunning"))

    async def cancel(self) -> None:
        """Cancel the turn, and wait until its end was reported. Does nothing if no turn runs."""
        if self._turn is None:
            return
        await asyncio.sleep(0)  # a task that is cancelled before its first step does nothing
        if self._is_working and not self._is_cancelled:
            self._is_cancelled = True
            self._turn.cancel()
        await asyncio.wait({self._turn})

    async def close(self) -> None:
        """Cancel the turn, and send nothing more."""
        while self.is_busy:
            await self.cancel()
        self.is_closed = True

    async def resume(self, *, replay: bool) -> None:
        """Open the session again. Send the state, after all updates if they should be replayed.

        Call it before `session_resume` returns.
        """
        self.is_closed = False
        async with self._sending:
            for update in self.updates if replay else ():
                await self.client.session_update(session_id=self.id, update=update)
            await self.client.session_update(session_id=self.id, update=self.state)

    async def _run(self, message: Update, work: Coroutine[Any, Any, Any]) -> None:
        idle: v2.SessionUpdateStateUpdate | None = None
        failure: Exception | None = None
        try:
            try:
                await self.send(message)
                await self.send(self._make("SessionUpdateStateUpdateRunning"))
                idle = await work
                if idle is not None and getattr(idle, "state", None) != "idle":
                    raise TypeError(f"The work of a turn must return an idle state or None, not {idle!r}")
            except asyncio.CancelledError:
                self._is_cancelled = True
            except Exception as error:
                failure = error
            finally:
                self._is_working = False
            if self._is_cancelled:
                idle = self._make("SessionUpdateStateUpdateIdleCancelled")
            elif failure is not None:
                idle = self._make_failed_state(failure)
            await self.send(idle or self._make("SessionUpdateStateUpdateIdleEndTurn"))
        except ConnectionClosed:  # the client has left, which may be why the work failed
            failure = None if isinstance(failure, ConnectionClosed) else failure
        finally:
            if failure is not None and not (self._is_cancelled and isinstance(failure, RequestCancelled)):
                _logger.error("The turn of the session %r failed", self.id, exc_info=failure)

    def _make_failed_state(self, error: Exception) -> v2.SessionUpdateStateUpdate:
        if not isinstance(error, RequestError) or isinstance(error, RemoteError):  # a peer's error is about its request
            error = InternalError("The turn failed")
        described = self._make("Error", code=error.code, message=error.message)
        failed: v2.SessionUpdateStateUpdate = self._make("SessionUpdateStateUpdateIdleError", error=described)
        return failed

    def _make(self, name: str, **fields: Any) -> Any:
        """Make an object of a class of the client's profile."""
        return class_like(self.client, name)(**fields)
