"""One turn, as a client sees it: the updates, and the stop reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from acp_bindings.v1 import ContentBlock, PromptResponse, RemoteAgent, SessionUpdate, StopReason
from acp_kit.client.unread import Unread


class _Session(Protocol):
    """The session that a turn belongs to."""

    agent: RemoteAgent
    id: str

    def begin(self, turn: Turn) -> None: ...

    def end(self) -> None: ...


class Turn:
    """One turn. Use it as an async context manager, and read its updates with `async for`.

    Adjacent chunks of text that are read late come as one chunk.

    Attributes:
        blocks: the prompt.
    """

    def __init__(self, session: _Session, blocks: Sequence[ContentBlock], cancel_deadline: float) -> None:
        self.blocks = blocks
        self._session = session
        self._cancel_deadline = cancel_deadline
        self._unread = Unread()
        self._prompt: asyncio.Task[PromptResponse] | None = None
        self._raised = False

    @property
    def response(self) -> PromptResponse | None:
        """The agent's response; None while the turn runs, or if there was none."""
        prompt = self._prompt
        if prompt is None or not prompt.done() or prompt.cancelled() or prompt.exception() is not None:
            return None
        return prompt.result()

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the turn ended; None while it runs, or if there was no response."""
        response = self.response
        return None if response is None else response.stop_reason

    @property
    def ended(self) -> bool:
        """Whether the agent has answered. There may be updates that were not read yet."""
        return self._prompt is not None and self._prompt.done()

    async def __aenter__(self) -> Turn:
        self._session.begin(self)
        prompt = self._session.agent.session_prompt(session_id=self._session.id, prompt=self.blocks)
        self._prompt = asyncio.ensure_future(prompt)
        self._prompt.add_done_callback(lambda _: self._unread.close())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._prompt is not None
        try:
            if not self._prompt.done():
                await self._cancel_and_wait(self._prompt)
        finally:
            self._session.end()
        if error is None and not self._raised and not self._prompt.cancelled():
            self._prompt.result()  # an error that nobody has seen

    def __aiter__(self) -> Turn:
        return self

    async def __anext__(self) -> SessionUpdate:
        update = await self._unread.get()
        if update is None:
            await self.wait()
            raise StopAsyncIteration
        return update

    async def wait(self) -> PromptResponse:
        """Wait for the end of the turn without reading its updates. They are in the session's state.

        Raises:
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has gone.
        """
        assert self._prompt is not None
        try:
            return await asyncio.shield(self._prompt)
        except BaseException:
            self._raised = True
            raise

    async def cancel(self) -> None:
        """Ask the agent to end the turn. It may still send updates before its response."""
        await self._session.agent.session_cancel(session_id=self._session.id)

    def put(self, update: SessionUpdate) -> None:
        """Add an update of the turn. The session calls this."""
        self._unread.put(update)

    async def _cancel_and_wait(self, prompt: asyncio.Task[PromptResponse]) -> None:
        try:
            await self.cancel()
            await asyncio.wait({prompt}, timeout=self._cancel_deadline)
        finally:
            # Without an answer in time, or if this task is cancelled itself. A late answer is ignored.
            if prompt.cancel():
                await asyncio.wait({prompt})
