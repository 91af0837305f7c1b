"""One turn, as a client sees it: the updates, and the stop reason."""

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
from acp_runtime import ConnectionClosed


class _Session(Protocol):
    """The session that a turn belongs to."""

    agent: RemoteAgent
    id: str

    async def ready(self) -> None: ...

    def lost(self, agent: RemoteAgent) -> None: ...

    def begin(self, turn: Turn) -> None: ...

    def end(self) -> None: ...


class UnfinishedTurn(Exception):
    """A turn ended for another reason than `end_turn`, so that the agent's reply may be incomplete.

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

    Adjacent chunks of text that are read late come as one chunk.

    The loop runs beside the handlers of the client. A `PermissionPolicy` asks the user after the loop has read the
    updates that came before the question, but only if the body of the loop awaits nothing. If it does, or for the order
    with other handlers, show updates in `Client.session_update`.

    If the agent answers with an error or goes away, `wait` and the loop raise it. If neither was used, the end of the
    block does.

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
        self._said = Chunks()
        self._prompt: asyncio.Task[PromptResponse] | None = None
        self._is_waiting = False
        self._is_withdrawn = False
        self._is_answered = False
        self._has_ended = False
        self._was_cancelled = False
        self._raised = False

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the turn ended; None while it runs, or if there was no response."""
        return None if self.response is None else self.response.stop_reason

    @property
    def cancelled(self) -> bool:
        """Whether this side has cancelled the turn, regardless of what the agent has answered."""
        if self._has_ended:
            return self._was_cancelled
        return self._is_withdrawn or (self._is_sent() and self._session.agent.has_cancelled_turn(self._session.id))

    @property
    def text(self) -> str:
        """All text of the agent's messages in this turn, without thoughts, as it was sent.

        While the turn runs, it is what the client has received so far, also if it was not read yet.
        """
        return self._said.text(len(self._said))

    @property
    def ended(self) -> bool:
        """Whether the agent has answered. There may be updates that were not read yet."""
        return self._prompt is not None and self._prompt.done()

    async def __aenter__(self) -> Turn:
        if self._prompt is not None:
            raise RuntimeError("A turn can be used once. Call `session.prompt` again for another one.")
        await self._session.ready()
        self._session.begin(self)
        agent = self._session.agent
        self._is_waiting = agent.has_cancelled_turn(self._session.id)
        self._prompt = asyncio.create_task(self._run(agent))
        self._prompt.add_done_callback(lambda prompt: self._on_end(prompt, agent))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        prompt = self._begun()
        try:
            if not prompt.done():
                await self._cancel_and_wait(prompt)
        finally:
            self._session.end()
        if error is None and not self._raised and not prompt.cancelled():
            prompt.result()  # an error that nobody has seen

    def __aiter__(self) -> Turn:
        return self

    async def __anext__(self) -> SessionUpdate:
        prompt = self._begun()
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
            ConnectionClosed: if the agent has gone.
            RuntimeError: if the block was left before the agent answered.
        """
        prompt = self._begun()
        await asyncio.wait({prompt})
        if prompt.cancelled():
            raise RuntimeError("The turn has no response: its block was left, and the agent didn't answer in time.")
        self._raised = prompt.exception() is not None
        return prompt.result()

    async def cancel(self) -> None:
        """Ask the agent to end the turn. It may still send updates before its response.

        A prompt that still waits for the response to a cancelled one is not sent. Does nothing if the turn has ended.
        """
        prompt = self._begun()
        await asyncio.sleep(0)  # in which a turn that has just begun sends its prompt
        if self._is_answered or prompt.done():
            return
        if self._is_sent():
            await self._session.agent.session_cancel(session_id=self._session.id)
        else:
            self._is_withdrawn = True
            prompt.cancel()

    def put(self, update: SessionUpdate) -> None:
        """Add an update, if the turn has not ended. The session calls this."""
        if self._has_ended or not self._is_sent():
            return
        self._unread.put(update)
        if update.session_update == "agent_message_chunk":
            self._said.add(update)

    def _begun(self) -> asyncio.Task[PromptResponse]:
        if self._prompt is None:
            raise RuntimeError("The turn has not begun. Use it in a block: `async with session.prompt(...) as turn`.")
        return self._prompt

    def _is_sent(self) -> bool:
        """Whether the prompt was sent. First, the connection waits for the response to a cancelled one."""
        # What it knows of cancellations is about the newest prompt that was sent.
        self._is_waiting = self._is_waiting and self._session.agent.has_cancelled_turn(self._session.id)
        return not self._is_waiting

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
            self._was_cancelled, self._has_ended = self.cancelled, True
        self.response = response
        return response

    def _on_end(self, prompt: asyncio.Task[PromptResponse], agent: RemoteAgent) -> None:
        self._unread.close()
        # Asking for the exception also keeps asyncio from warning if the block is left with another error.
        if not prompt.cancelled() and isinstance(prompt.exception(), ConnectionClosed):
            self._session.lost(agent)

    async def _cancel_and_wait(self, prompt: asyncio.Task[PromptResponse]) -> None:
        try:
            with suppress(TimeoutError):
                # Sending can also take long, if the agent doesn't read.
                async with asyncio.timeout(self._cancel_deadline):
                    await asyncio.sleep(0)  # in which a turn that has just begun sends its prompt
                    if not self.cancelled:
                        with suppress(ConnectionClosed):  # the prompt fails with it as well
                            await self.cancel()
                    if not self._is_answered:
                        await asyncio.wait({prompt})
        finally:
            # Without an answer in time, or if this task is cancelled itself. A late answer is ignored.
            if prompt.cancel():
                await asyncio.wait({prompt})


def require_text(turn: Turn) -> str:
    """Return the text of a turn, which the agent must have ended by itself.

    Raises:
        UnfinishedTurn: if the stop reason isn't `end_turn`, or this side has cancelled the turn.
    """
    stop_reason = "cancelled" if turn.cancelled else turn.stop_reason
    if stop_reason is not None and stop_reason != "end_turn":
        raise UnfinishedTurn(stop_reason, turn.text)
    return turn.text
