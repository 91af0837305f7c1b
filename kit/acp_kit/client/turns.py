"""One turn of a client's session: its updates and its stop reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from acp_bindings.v1 import ContentBlock, PromptResponse, RemoteAgent, SessionUpdate, StopReason
from acp_kit.client.unread import Unread
from acp_kit.common.profiles import like
from acp_kit.updates.messages import Chunks
from acp_kit.updates.table import TABLE
from acp_runtime import ConnectionClosed
from acp_runtime.updates import Says


class _Session(Protocol):
    """The session that a turn belongs to."""

    agent: RemoteAgent
    id: str

    async def ready(self) -> None: ...

    def lost(self, agent: RemoteAgent) -> None: ...

    def begin(self, turn: Turn) -> None: ...

    def stop_calls(self) -> None: ...

    def end(self) -> None: ...

    async def cancel(self) -> None: ...


class UnfinishedTurn(Exception):
    """A turn ended with another stop reason than `end_turn`, so the agent's reply may be incomplete.

    Attributes:
        stop_reason: why the turn ended, such as `max_tokens`, `refusal` or `cancelled`.
        text: the text of the reply so far.
    """

    def __init__(self, stop_reason: StopReason, text: str) -> None:
        super().__init__(stop_reason, text)
        self.stop_reason = stop_reason
        self.text = text

    def __str__(self) -> str:
        return f"The agent ended the turn with the stop reason {self.stop_reason!r}"


class Turn:
    """One turn. Use it as an async context manager, and read its updates with `async for`.

    Adjacent chunks of text that were not read yet are merged.

    The loop runs concurrently with the handlers of the client. A `PermissionPolicy` asks the user after the loop has
    read the updates before the question, but only if the body of the loop awaits nothing. If it does, or if updates
    must be in order with other handlers, show updates in `Client.session_update`.

    If the agent answers with an error or exits, `wait` and the loop raise the error. If neither is used, the end of the
    block raises it.

    Attributes:
        blocks: the prompt.
        response: the agent's response; None while the turn runs, or if there was none.
    """

    def __init__(
        self, session: _Session, blocks: Sequence[ContentBlock], cancel_deadline: float, settle: float
    ) -> None:
        self.blocks = blocks
        self.response: PromptResponse | None = None
        self._session = session
        self._cancel_deadline = cancel_deadline
        self._settle = settle
        self._unread = Unread()
        self._message_chunks = Chunks()
        self._prompt: asyncio.Task[PromptResponse] | None = None
        self._is_queued = False  # the connection waits for the response to a cancelled prompt first
        self._is_withdrawn = False  # it was cancelled while it was queued
        self._is_answered = False
        self._was_cancelled: bool | None = None  # None until the turn has ended
        self._was_error_raised = False

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the turn ended; None while it runs, or if there was no response."""
        return None if self.response is None else self.response.stop_reason

    @property
    def cancelled(self) -> bool:
        """Whether this side has cancelled the turn, regardless of the agent's response."""
        if self._was_cancelled is not None:
            return self._was_cancelled
        return self._is_withdrawn or (self._is_sent() and self._session.agent.has_cancelled_turn(self._session.id))

    @property
    def text(self) -> str:
        """All text of the agent's messages in this turn, without thoughts, as it was sent.

        While the turn runs, this is the text that the client has received so far, whether or not it was read.
        """
        return self._message_chunks.text(len(self._message_chunks))

    @property
    def ended(self) -> bool:
        """Whether the agent has answered. Some updates may not have been read yet."""
        return self._prompt is not None and self._prompt.done()

    async def __aenter__(self) -> Turn:
        if self._prompt is not None:
            raise RuntimeError("A turn can be used once. Call `session.prompt` again for another one.")
        await self._session.ready()
        self._session.begin(self)
        agent = self._session.agent
        self._is_queued = agent.has_cancelled_turn(self._session.id)
        self._prompt = asyncio.create_task(self._run(agent))
        self._prompt.add_done_callback(lambda prompt: self._on_end(prompt, agent))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        prompt = self._started_prompt()
        try:
            if not prompt.done():
                await self._cancel_and_wait(prompt)
        finally:
            self._session.end()
        if error is None and not self._was_error_raised and not prompt.cancelled():
            prompt.result()  # raises an error that nobody has seen

    def __aiter__(self) -> Turn:
        return self

    async def __anext__(self) -> SessionUpdate:
        prompt = self._started_prompt()
        update = await self._unread.get()
        if update is None:
            if not prompt.cancelled():
                await self.wait()
            raise StopAsyncIteration
        return update

    async def wait(self) -> PromptResponse:
        """Wait for the end of the turn without reading its updates. They are in the session's state.

        Raises:
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has ended.
            RuntimeError: if the block was left before the agent answered.
        """
        prompt = self._started_prompt()
        await asyncio.wait({prompt})
        if prompt.cancelled():
            raise RuntimeError("The turn has no response: its block was left, and the agent didn't answer in time.")
        self._was_error_raised = prompt.exception() is not None
        return prompt.result()

    async def cancel(self) -> None:
        """Ask the agent to end the turn. It may still send updates before its response.

        If the prompt still waits for the response to a cancelled one, it is not sent. Does nothing if the turn has
        ended.
        """
        prompt = self._started_prompt()
        await asyncio.sleep(0)  # lets a turn that has just begun send its prompt
        if self._is_answered or prompt.done():
            return
        if self._is_sent():
            await self._session.cancel()
        else:
            self._is_withdrawn = True
            prompt.cancel()

    def put(self, update: SessionUpdate) -> None:
        """Add an update, if the turn has not ended. The session calls this."""
        if self._was_cancelled is not None or not self._is_sent():
            return
        self._unread.put(update)
        effect = TABLE.get(update.session_update)
        if isinstance(effect, Says) and effect.role == "agent":
            self._message_chunks.add(update)

    def _started_prompt(self) -> asyncio.Task[PromptResponse]:
        if self._prompt is None:
            raise RuntimeError("The turn has not begun. Use it in a block: `async with session.prompt(...) as turn`.")
        return self._prompt

    def _is_sent(self) -> bool:
        """Whether the prompt was sent."""
        # Until then, `has_cancelled_turn` is about the prompt before it.
        self._is_queued = self._is_queued and self._session.agent.has_cancelled_turn(self._session.id)
        return not self._is_queued

    async def _run(self, agent: RemoteAgent) -> PromptResponse:
        try:
            response = await agent.session_prompt(session_id=self._session.id, prompt=self.blocks)
            self._is_answered = True
            if self._settle:
                with suppress(asyncio.CancelledError):  # the block was left
                    await asyncio.sleep(self._settle)
        except asyncio.CancelledError:
            if not self._is_withdrawn:
                raise
            response = like(agent, PromptResponse)(stop_reason="cancelled")
        finally:
            self._was_cancelled = self.cancelled
        self.response = response
        return response

    def _on_end(self, prompt: asyncio.Task[PromptResponse], agent: RemoteAgent) -> None:
        self._unread.close()
        self._session.stop_calls()
        # Getting the exception also marks it as retrieved.
        if not prompt.cancelled() and isinstance(prompt.exception(), ConnectionClosed):
            self._session.lost(agent)

    async def _cancel_and_wait(self, prompt: asyncio.Task[PromptResponse]) -> None:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._cancel_deadline):
                    if not self.cancelled:
                        with suppress(ConnectionClosed):  # the prompt raises it as well
                            await self.cancel()  # sending takes long if the agent doesn't read
                    if not self._is_answered:
                        await asyncio.wait({prompt})
        finally:
            # If the agent didn't answer in time, or this task is cancelled. A late response is ignored.
            if prompt.cancel():
                await asyncio.wait({prompt})


def require_text(turn: Turn) -> str:
    """Return the text of a turn, if the agent has ended it by itself.

    Raises:
        UnfinishedTurn: if the stop reason isn't `end_turn`, or this side has cancelled the turn.
    """
    stop_reason = "cancelled" if turn.cancelled else turn.stop_reason
    if stop_reason is not None and stop_reason != "end_turn":
        raise UnfinishedTurn(stop_reason, turn.text)
    return turn.text
