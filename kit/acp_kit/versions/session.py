"""A session: its turns one after the other, and its state.

In version 1, the response to a prompt ends its turn, and a prompt is in the conversation when it is sent. In version 2,
the response says that the prompt is in the conversation, and the state of the session says when its turn ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

from acp_bindings import v2_draft as v2
from acp_kit.common.json_values import members_of
from acp_kit.updates.table import TABLE
from acp_kit.versions.json_objects import Json
from acp_kit.versions.updates import Updates
from acp_runtime import ConnectionClosed, RequestCancelled, RequestError
from acp_runtime.updates import Changes, Says, Sets

# The kinds of updates that are part of a conversation, and the kinds that may come at any time.
_HISTORY = {"plan", *(kind for kind, effect in TABLE.items() if isinstance(effect, (Says, Changes)))}
_SETTINGS = {kind for kind, effect in TABLE.items() if isinstance(effect, Sets)} - _HISTORY


class Turn:
    """A prompt, from its arrival until its turn ends.

    Attributes:
        may_begin: whether the turns before it have ended, or it was cancelled.
        has_begun: whether the agent has sent something for it, or it was cancelled or has ended.
        is_sent: whether the prompt was sent to the agent.
        is_settled: whether the client knows that the prompt was accepted, or refused.
        is_accepted: whether it was accepted.
        is_cancelled: whether the client has cancelled it.
        error: the error that refuses it, or ends it.
        has_output: whether the agent has sent more than the user's message.
        questions: how many questions of the agent the user has not answered.
        task: waits for its end, and reports it.
    """

    task: asyncio.Task[None]

    def __init__(self, prompt: list[Json]) -> None:
        self.prompt = prompt
        self.may_begin: asyncio.Event = asyncio.Event()
        self.has_begun: asyncio.Event = asyncio.Event()
        self.is_settled: asyncio.Event = asyncio.Event()
        self.is_sent = False
        self.is_accepted = False
        self.is_cancelled: bool = False
        self.error: RequestError | None = None
        self.has_output = False
        self.questions = 0

    def cancel(self) -> None:
        """Note that the client has cancelled it. It is refused unless it was sent to the agent."""
        self.is_cancelled = True
        if not self.is_sent:
            self.error = RequestCancelled()
            self.may_begin.set()
        self.has_begun.set()

    def is_echo(self, update: Json) -> bool:
        """Return whether an update repeats the prompt, which the client has already."""
        if self.has_output or update["sessionUpdate"] != "user_message_chunk":
            return False
        content = members_of(update, "content")
        text = str(content.get("text", ""))
        return content in self.prompt or any(text in str(block.get("text", "")) for block in self.prompt if text)


class Session:
    """A session.

    Args:
        id: its id, which is the same in both versions.
        cwd: its folder.
        client: the proxy for the client.

    Attributes:
        turns: the turn that runs, and those that wait for its end.
        state: the state that the client knows.
        is_closing: whether the client is closing or deleting it, so that no further turn begins.
        is_closed: whether the client has closed or deleted it, so that nothing more is sent for it.
        info: its title and the time of its last change, if the agent has sent them.
    """

    def __init__(self, id: str, cwd: str, client: v2.RemoteClient) -> None:
        self.id = id
        self.updates: Updates = Updates(cwd)
        self.turns: deque[Turn] = deque()
        self.state: Json = {"sessionUpdate": "state_update", "state": "idle"}
        self.is_closing = False
        self.is_closed = False
        self.info: Json = {}
        self._client = client
        self._is_loading = False
        self._is_muted = False

    @property
    def cwd(self) -> str:
        """Its folder."""
        return self.updates.calls.cwd

    # Turns.

    @property
    def turn(self) -> Turn | None:
        """The turn that runs."""
        return self.turns[0] if self.turns and self.turns[0].may_begin.is_set() else None

    def add_turn(self, turn: Turn, task: asyncio.Task[None]) -> None:
        """Add a turn, which begins when the turns before it have ended. It ends with its task."""
        turn.task = task
        self.turns.append(turn)
        task.add_done_callback(lambda _: self._end_turn(turn))
        self._begin_turn()

    def _end_turn(self, turn: Turn) -> None:
        self.turns.remove(turn)
        self._begin_turn()

    def _begin_turn(self) -> None:
        if self.turns and not self.turns[0].may_begin.is_set() and not self._is_loading:
            self.updates.begin_turn()
            self.turns[0].may_begin.set()

    @contextmanager
    def loading(self, *, is_muted: bool) -> Generator[None]:
        """Let the agent send the conversation again, inside of the block. No turn begins meanwhile.

        Args:
            is_muted: whether it is left out, because the client doesn't want it again.
        """
        self.updates.begin_replay()
        self._is_loading = True
        self._is_muted = is_muted
        try:
            yield
        finally:
            self._is_loading = self._is_muted = False
            self._begin_turn()

    # Messages to the client.

    async def receive(self, params: Json) -> None:
        """Pass on an update of the agent, after the prompt that it belongs to."""
        update = params["update"]
        turn = self.turn
        kind = update["sessionUpdate"]
        if self._is_muted and kind in _HISTORY:
            self.updates.to_v2(update)  # its ids are used
            return
        if turn is not None and kind not in _SETTINGS:
            await self.wait_accepted()
            if turn.is_echo(update):
                return
            turn.has_output |= kind in _HISTORY
        if kind == "session_info_update":
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

    async def report(self, state: str, fields: Json | None = None) -> None:
        """Send the state."""
        self.state = {**(fields or {}), "sessionUpdate": "state_update", "state": state}
        await self.send(self.state)

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Report that the user's action is required, inside of the block."""
        turn = self.turn
        if turn is None:
            yield
            return
        await self.wait_accepted()
        turn.questions += 1
        await self._report_question(turn, 1, "requires_action")
        try:
            yield
        finally:
            turn.questions -= 1
            await self._report_question(turn, 0, "running")

    async def _report_question(self, turn: Turn, questions: int, state: str) -> None:
        is_running = turn is self.turn and self.state["state"] != "idle" and not turn.is_cancelled
        if is_running and turn.questions == questions:
            await self.report(state)

    async def _notify(self, params: Json) -> None:
        if not self.is_closed:
            with suppress(ConnectionClosed):
                await self._client.notify(v2.UpdateSessionNotification.model_validate(params))
