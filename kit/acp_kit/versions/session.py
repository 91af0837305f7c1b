"""A session: its turns one after the other, and its state.

In version 1, the response to a prompt ends its turn, and a prompt is in the conversation when it is sent. In version 2,
the response says that the prompt is in the conversation, and the state of the session says when its turn ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from acp_bindings import v2_draft as v2
from acp_kit.updates.table import TABLE, AddsChunk, ChangesEntry
from acp_kit.versions.json_objects import Json, object_in
from acp_kit.versions.updates import Updates
from acp_runtime import ConnectionClosed, RequestCancelled, RequestError

# The kinds of updates that are part of a conversation.
_HISTORY = {"plan", *(kind for kind, effect in TABLE.items() if isinstance(effect, (AddsChunk, ChangesEntry)))}


class Turn:
    """A prompt, until its turn ends.

    Attributes:
        may_begin: done when the turns before it have ended.
        has_begun: whether the agent has begun it, as far as is known: it has sent something.
        is_sent: whether the agent has got the prompt.
        is_settled: whether the client knows that the prompt was accepted, or refused.
        is_accepted: whether it was accepted.
        is_cancelled: whether the client has cancelled it.
        error: the error that refuses it, or ends it.
        has_output: whether the agent has sent more than the user's message.
        task: waits for its end, and reports it.
    """

    def __init__(self, prompt: list[Json]) -> None:
        self.prompt = prompt
        self.may_begin: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.has_begun: asyncio.Event = asyncio.Event()
        self.is_settled: asyncio.Event = asyncio.Event()
        self.is_sent = False
        self.is_accepted = False
        self.is_cancelled = False
        self.error: RequestError | None = None
        self.has_output = False
        self.task: asyncio.Task[None] | None = None

    def is_echo(self, update: Json) -> bool:
        """Return whether an update repeats the prompt, which the client has got already."""
        if self.has_output or update["sessionUpdate"] != "user_message_chunk":
            return False
        content = object_in(update, "content")
        text = str(content.get("text", ""))
        return content in self.prompt or any(text in str(block.get("text", "")) for block in self.prompt if text)


class Session:
    """A session.

    Args:
        id: its id, which is the same in both versions.
        cwd: its folder.
        client: the proxy for the client.

    Attributes:
        turn: the turn that runs, or is about to begin.
        state: the state that the client knows.
        is_closed: whether the client has closed or deleted it, so that nothing more is sent for it.
        is_muted: whether its history is left out, because the client doesn't want it again.
        info: its title and when it was changed, as far as the agent has said.
    """

    def __init__(self, id: str, cwd: str, client: v2.RemoteClient) -> None:
        self.id = id
        self.cwd = cwd
        self.updates: Updates = Updates(cwd)
        self.turn: Turn | None = None
        self.state: Json = {"sessionUpdate": "state_update", "state": "idle"}
        self.is_closed = False
        self.is_muted = False
        self.info: Json = {}
        self._client = client
        self._waiting: deque[Turn] = deque()
        self._questions = 0

    # Turns.

    async def begin_turn(self, prompt: list[Json]) -> Turn:
        """Return the turn of a prompt when the turns before it have ended.

        Raises:
            RequestCancelled: if it was cancelled before.
        """
        turn = Turn(prompt)
        if self.turn is not None:
            self._waiting.append(turn)
            try:
                await turn.may_begin
            except asyncio.CancelledError:
                if self.turn is turn:
                    self.end_turn()
                else:
                    self._waiting.remove(turn)
                raise
        self.turn = turn
        self.updates.begin_turn()
        return turn

    def end_turn(self) -> None:
        """Begin the next turn, if a prompt waits."""
        self.turn = self._waiting.popleft() if self._waiting else None
        if self.turn is not None:
            self.turn.may_begin.set_result(None)

    def cancel_waiting(self) -> None:
        """Refuse the prompts that wait for the end of the turn."""
        while self._waiting:
            self._waiting.popleft().may_begin.set_exception(RequestCancelled())

    # What the client is told.

    async def receive(self, params: Json) -> None:
        """Pass on an update of the agent, after the prompt that it belongs to."""
        update, turn = params["update"], self.turn
        if self.is_muted and update["sessionUpdate"] in _HISTORY:
            self.updates.to_v2(update)  # its ids are used
            return
        if turn is not None:
            await self.wait_accepted()
            if turn.is_echo(update):
                return
            turn.has_output = True
        if update["sessionUpdate"] == "session_info_update":
            self.info |= {name: update[name] for name in ("title", "updatedAt") if name in update}
        translated = self.updates.to_v2(update)
        if translated is not None:
            await self._notify(params | {"update": translated})

    async def wait_accepted(self) -> None:
        """Let the prompt of the turn be accepted, because the agent has begun with it. Wait until the client knows."""
        turn = self.turn
        if turn is not None and not turn.is_settled.is_set():
            turn.has_begun.set()
            await turn.is_settled.wait()

    async def send(self, update: Json) -> None:
        """Send an update of version 2."""
        await self._notify({"sessionId": self.id, "update": update})

    async def report(self, state: str, **more: Any) -> None:
        """Send the state."""
        self.state = {"sessionUpdate": "state_update", "state": state, **more}
        await self.send(self.state)

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Report that the user's action is required, inside of the block."""
        turn = self.turn
        await self.wait_accepted()
        self._questions += 1
        await self._report_question(turn, 1, "requires_action")
        try:
            yield
        finally:
            self._questions -= 1
            await self._report_question(turn, 0, "running")

    async def _report_question(self, turn: Turn | None, questions: int, state: str) -> None:
        is_running = turn is not None and turn is self.turn and turn.is_accepted and not turn.is_cancelled
        if is_running and self._questions == questions:
            await self.report(state)

    async def _notify(self, params: Json) -> None:
        if not self.is_closed:
            with suppress(ConnectionClosed):
                await self._client.notify(v2.UpdateSessionNotification.model_validate(params))
