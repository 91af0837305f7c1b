"""Sessions with an agent: opened, prompted, and their updates merged into a state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from acp_bindings.v1 import (
    ContentBlock,
    ContentBlockText,
    LoadSessionResponse,
    McpServer,
    NewSessionResponse,
    RemoteAgent,
    ResumeSessionResponse,
    SessionNotification,
    SessionUpdateConfigOptionUpdate,
    SessionUpdateCurrentModeUpdate,
    SessionUpdateUserMessageChunk,
)
from acp_kit.client.state import SessionState
from acp_kit.client.turns import Turn, UnfinishedTurn
from acp_kit.profiles import like
from acp_runtime import ABSENT, ConnectionClosed, InvalidResponse, RemoteError

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionConfigOption

# How long an agent may take to close a session.
_CLOSE_SECONDS = 5.0

_open: WeakKeyDictionary[RemoteAgent, dict[str, ClientSession]] = WeakKeyDictionary()


class ClientSession:
    """A session that `open_session` has opened.

    Attributes:
        agent: the proxy of the agent.
        id: its id.
        state: what its updates say: messages, tool calls, plan, modes and so on.
    """

    def __init__(self, agent: RemoteAgent, session_id: str) -> None:
        self.agent = agent
        self.id = session_id
        self.state: SessionState = SessionState()
        self._turn: Turn | None = None
        self._is_closed = False

    def prompt(self, prompt: str | ContentBlock | Sequence[ContentBlock], *, cancel_deadline: float = 10.0) -> Turn:
        """Send a prompt: `async with session.prompt("hello") as turn`.

        The updates of the turn are read with `async for`. Leaving the block before the turn has ended cancels it, and
        waits for its end.

        Args:
            prompt: text, a block of content, or several.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.

        Raises:
            RuntimeError: when the block is entered, if the last turn has not ended, or the session is closed.
        """
        return Turn(self, self._blocks(prompt), cancel_deadline)

    async def ask(self, prompt: str | ContentBlock | Sequence[ContentBlock], *, cancel_deadline: float = 10.0) -> str:
        """Send a prompt, wait for the end of the turn, and return the text of the agent's reply: `Turn.text`.

        A cancellation of this call, such as that by `asyncio.timeout`, cancels the turn and waits for its end.

        Args:
            prompt: text, a block of content, or several.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.

        Raises:
            UnfinishedTurn: if the turn ended with another stop reason than `end_turn`. It has the text so far.
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has gone.
            RuntimeError: if the last turn has not ended, or the session is closed.
        """
        async with self.prompt(prompt, cancel_deadline=cancel_deadline) as turn:
            response = await turn.wait()
        if response.stop_reason != "end_turn":
            raise UnfinishedTurn(response.stop_reason, turn.text)
        return turn.text

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode of the session, here and in `state`.

        Raises:
            RemoteError: if the agent refuses.
        """
        await self.agent.session_set_mode(session_id=self.id, mode_id=mode_id)
        self.state.apply(like(self.agent, SessionUpdateCurrentModeUpdate)(current_mode_id=mode_id))

    async def set_config_option(self, config_id: str, value: str | bool) -> Sequence[SessionConfigOption]:
        """Change an option of the session, here and in `state`.

        Returns:
            All options with their values. Changing one may change others.

        Raises:
            RemoteError: if the agent refuses.
        """
        if isinstance(value, bool):
            response = await self.agent.session_set_config_option(
                session_id=self.id, config_id=config_id, value=value, type="boolean"
            )
        else:
            response = await self.agent.session_set_config_option(session_id=self.id, config_id=config_id, value=value)
        options = response.config_options
        self.state.apply(like(self.agent, SessionUpdateConfigOptionUpdate)(config_options=options))
        return options

    def apply(self, notification: SessionNotification) -> None:
        """Merge an update into the state, and pass it on to the turn. `deliver_update` calls this."""
        self.state.apply(notification.update)
        if self._turn is not None:
            self._turn.put(notification.update)

    def begin(self, turn: Turn) -> None:
        """Let a turn receive the updates. A turn calls this when its block is entered."""
        if self._is_closed:
            raise RuntimeError("The session is closed. Open it again with `open_session(..., load=session.id)`.")
        if self._turn is not None:
            raise RuntimeError(
                "The last turn of this session has not ended. Leave its block first, or open another session."
            )
        chunk = like(self.agent, SessionUpdateUserMessageChunk)
        chunks = [chunk(content=block) for block in turn.blocks]
        self._turn = turn
        for each in chunks:
            self.state.apply(each)
        self.state.end_message()

    def end(self) -> None:
        """Let the next turn begin. A turn calls this at its end."""
        self._turn = None
        self.state.end_message()

    def close(self) -> None:
        """Refuse further turns. `open_session` calls this at the end of its block."""
        self._is_closed = True

    def _blocks(self, prompt: str | ContentBlock | Sequence[ContentBlock]) -> list[ContentBlock]:
        if isinstance(prompt, str):
            return [like(self.agent, ContentBlockText)(text=prompt)]
        return [*prompt] if isinstance(prompt, Sequence) else [prompt]


def find_session(agent: RemoteAgent, session_id: str) -> ClientSession | None:
    """Return a session that `open_session` has opened; None if there is none with this id.

    For handlers of a client, which only get the id: to show a dialog in the right window, for example.
    """
    return _open.get(agent, {}).get(session_id)


def deliver_update(agent: RemoteAgent, notification: SessionNotification) -> bool:
    """Pass an update on to the session that `open_session` has opened. Call it in `Client.session_update`.

        async def session_update(self, notification: SessionNotification) -> None:
            deliver_update(self.agent, notification)

    It never waits, so a program that reads the updates slowly, or calls the agent while it reads, blocks nothing.

    Returns:
        Whether there is such a session.
    """
    session = find_session(agent, notification.session_id)
    if session is not None:
        session.apply(notification)
    return session is not None


def count_unknown(agent: RemoteAgent, method: str, params: Any) -> None:
    """Count an update of a kind that the schema doesn't know, in the state of its session.

    Call it in `Client.invalid_notification`, which is called for such an update.
    """
    match params:
        case {"sessionId": str(session_id), "update": {"sessionUpdate": str(tag)}} if method == "session/update":
            session = find_session(agent, session_id)
            if session is not None:
                session.state.count_unknown(tag)
        case _:
            return


@asynccontextmanager
async def open_session(
    agent: RemoteAgent,
    *,
    cwd: str | Path,
    mcp_servers: Sequence[McpServer] = (),
    additional_directories: Sequence[str | Path] = (),
    load: str | None = None,
    resume: str | None = None,
) -> AsyncGenerator[ClientSession]:
    """Open a session with an agent, and close it at the end of the block if the agent can close sessions.

    `Client.session_update` has to call `deliver_update`, as that of `UpdateHandlers` does. Otherwise the state stays
    empty, and turns have no updates.

    Args:
        agent: the proxy of the agent, after `initialize`.
        cwd: the working directory, absolute.
        mcp_servers: the MCP servers that the agent should use.
        additional_directories: further directories that the session may use.
        load: the id of an earlier session. The agent sends its history again, which fills the state.
        resume: the id of an earlier session. The agent sends no history.

    Raises:
        ValueError: if `load` and `resume` are given.
        CapabilityError: if the agent can't do what was asked for.
        RemoteError: if the agent refuses, for example because the user has to authenticate first.
        InvalidResponse: if the agent answers with the id of a session that is open already.
    """
    if load is not None and resume is not None:
        raise ValueError("Pass `load` or `resume`, not both.")
    known_id = resume if load is None else load  # an id may be empty
    sessions = _open.setdefault(agent, {})
    if known_id is not None and known_id in sessions:
        raise ValueError(f"The session {known_id!r} is open already.")
    # The history of a loaded session is received before the response.
    session = ClientSession(agent, known_id or "")
    if known_id is not None:
        sessions[known_id] = session
    try:
        response = await _opened(agent, str(cwd), mcp_servers, [*map(str, additional_directories)], load, resume)
        if isinstance(response, like(agent, NewSessionResponse)):
            # Without an await since the response, so before the first update is handled.
            if response.session_id in sessions:
                raise InvalidResponse("session/new", "its session id is that of a session that is open already")
            session.id = response.session_id
            sessions[session.id] = session
        session.state.opened(response)
        session.state.end_message()
        try:
            yield session
        finally:
            session.close()
            await _close(session)
    finally:
        if sessions.get(session.id) is session:
            del sessions[session.id]


async def _opened(
    agent: RemoteAgent,
    cwd: str,
    mcp_servers: Sequence[McpServer],
    directories: Sequence[str],
    load: str | None,
    resume: str | None,
) -> NewSessionResponse | LoadSessionResponse | ResumeSessionResponse:
    further = directories or ABSENT
    if load is not None:
        return await agent.session_load(
            session_id=load, cwd=cwd, mcp_servers=mcp_servers, additional_directories=further
        )
    if resume is not None:
        return await agent.session_resume(
            session_id=resume, cwd=cwd, mcp_servers=mcp_servers, additional_directories=further
        )
    return await agent.session_new(cwd=cwd, mcp_servers=mcp_servers, additional_directories=further)


async def _close(session: ClientSession) -> None:
    """Close a session if the agent can. That it fails, or that the agent has gone, is no error at this point."""
    try:
        if session.agent.supports("session/close"):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await session.agent.session_close(session_id=session.id)
    except (RemoteError, InvalidResponse, ConnectionClosed, TimeoutError):
        return
