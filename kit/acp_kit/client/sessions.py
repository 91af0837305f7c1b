"""Sessions with an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from logging import getLogger
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from acp_bindings import v1
from acp_kit.client.deadlines import answered_within
from acp_kit.client.handlers import check_client
from acp_kit.client.open_sessions import UpdateHandlers, forget, remember, sessions_of
from acp_kit.client.state import SessionState
from acp_kit.client.turns import Turn, require_text
from acp_kit.common.config_options import check_mode, check_value, find_option, not_offered
from acp_kit.common.profiles import check_version, like
from acp_kit.common.sequences import check_sequence
from acp_runtime import ABSENT, ConnectionClosed, InvalidResponse, RemoteError

# How long an agent may take to close a session.
_CLOSE_SECONDS = 5.0

_logger = getLogger(__name__)


Prompt: TypeAlias = str | v1.ContentBlock | Sequence[v1.ContentBlock]


class Supervisor(Protocol):
    """Starts the agent of a session again when it has ended."""

    async def ready(self, session: ClientSession) -> None:
        """Wait until the session can be used."""

    def lost(self, agent: v1.RemoteAgent) -> None:
        """Note that an agent has ended."""


class ClientSession:
    """A session that `open_session` has opened.

    Attributes:
        agent: the proxy of the agent. For a `Supervised` agent, the proxy of the last process that had the session.
        id: its id.
        state: its messages, tool calls, plan, modes and so on.
        supervisor: restarts the agent, such as `Supervised`; None if nothing does.
        opening: the keywords that the session was opened with, to open it again.
        is_closed: whether the block of `open_session` was left. Then it accepts no prompts.
        late_load: the task of the last `session/load` of `reopen_session`, which may run beyond its time limit; None if
            there was none.
    """

    def __init__(self, agent: v1.RemoteAgent, session_id: str, opening: Mapping[str, Any]) -> None:
        self.agent = agent
        self.id = session_id
        self.state: SessionState = SessionState()
        self.supervisor: Supervisor | None = None
        self.opening = opening
        self._turn: Turn | None = None
        self.is_closed: bool = False
        self.late_load: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        state = self.state
        closed = ", closed" if self.is_closed else ""
        return (
            f"<ClientSession {self.id!r}: {len(state.messages)} messages, {len(state.tool_calls)} tool calls{closed}>"
        )

    @property
    def roots(self) -> Sequence[str]:
        """Its folders: the working directory, and the additional ones that it was opened with."""
        directories = self.opening["additional_directories"]
        return (self.opening["cwd"], *(() if directories is ABSENT else directories))

    def prompt(self, prompt: Prompt, *, cancel_deadline: float = 10.0, settle: float = 0.0) -> Turn:
        """Send a prompt: `async with session.prompt("hello") as turn`.

        Read the updates of the turn with `async for`. Leaving the block before the turn has ended cancels the turn and
        waits for its end.

        Args:
            prompt: text, a block of content, or several.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.
            settle: how long the turn receives updates after the agent's response, in seconds. Some agents send text
                after it.

        Raises:
            RuntimeError: when the block is entered, if the last turn has not ended, or the session is closed.
        """
        return Turn(self, self._blocks(prompt), cancel_deadline, settle)

    async def ask(self, prompt: Prompt, *, cancel_deadline: float = 10.0, settle: float = 0.0) -> str:
        """Send a prompt, wait for the end of the turn, and return the text of the agent's reply: `Turn.text`.

        A cancellation of this call cancels the turn and waits for its end. For example:

            async with asyncio.timeout(600):
                print(await session.ask("What is in this folder?"))

        Args:
            prompt: text, a block of content, or several.
            cancel_deadline: how long to wait for the end of a turn that was cancelled, in seconds.
            settle: how long the turn receives updates after the agent's response, in seconds. Some agents send text
                after it.

        Raises:
            UnfinishedTurn: if the turn ended with another stop reason than `end_turn`, or was cancelled. It has the
                text so far.
            RemoteError: if the agent answered with an error.
            ConnectionClosed: if the agent has ended.
            RuntimeError: if the last turn has not ended, or the session is closed.
        """
        async with self.prompt(prompt, cancel_deadline=cancel_deadline, settle=settle) as turn:
            await turn.wait()
        return require_text(turn)

    async def cancel(self) -> None:
        """Ask the agent to end the running turn. Its tool calls count as stopped immediately: see
        `Snapshot.status_of`."""
        self.stop_calls()
        await self.agent.session_cancel(session_id=self.id)

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode of the session, here and in `state`.

        Raises:
            RemoteError: if the agent refuses.
        """
        await self.ready()
        await self.agent.session_set_mode(session_id=self.id, mode_id=mode_id)
        self.state.apply(like(self.agent, v1.SessionUpdateCurrentModeUpdate)(current_mode_id=mode_id))

    async def set_config_option(self, config_id: str, value: str | bool) -> Sequence[v1.SessionConfigOption]:
        """Change an option of the session, here and in `state`.

        Returns:
            All options with their values. Changing one may change others.

        Raises:
            RemoteError: if the agent refuses.
        """
        await self.ready()
        if isinstance(value, bool):
            response = await self.agent.session_set_config_option(
                session_id=self.id, config_id=config_id, value=value, type="boolean"
            )
        else:
            response = await self.agent.session_set_config_option(session_id=self.id, config_id=config_id, value=value)
        options = response.config_options
        self.state.apply(like(self.agent, v1.SessionUpdateConfigOptionUpdate)(config_options=options))
        return options

    async def choose(self, setting: str, value: str | bool) -> None:
        """Set an option or the mode of the session, whichever the agent has, if it offers the value.

        For example: `await session.choose("model", "opus")`.

        Args:
            setting: the id of an option, or its category if only one option has it; "mode" is the session's mode if no
                option has this id or category.
            value: the id of the value; for a toggle, whether it is on.

        Raises:
            ValueError: if the agent doesn't offer the setting or the value. The message lists what it offers.
            RemoteError: if the agent refuses.
            RuntimeError: if the option has another value in the agent's response.
        """
        await self.ready()
        options = self.state.config_options
        modes = self.state.available_modes
        option = find_option(options, setting)
        if option is not None:
            check_value(option, value)
            answered = find_option(await self.set_config_option(option.id, value), option.id)
            if answered is None or answered.current_value != value:
                now = "missing" if answered is None else repr(answered.current_value)
                raise RuntimeError(f"The agent was asked to set {option.id!r} to {value!r}, but now it is {now}.")
        elif setting == "mode" and modes:
            check_mode(modes, value)
            await self.set_mode(str(value))
        else:
            raise not_offered(setting, options, modes)

    async def ready(self) -> None:
        """Wait until the session can be used. Only waits while its agent is being restarted."""
        if self.supervisor is not None and not self.is_closed:
            await self.supervisor.ready(self)

    def lost(self, agent: v1.RemoteAgent) -> None:
        """Tell the supervisor that an agent has ended. A turn calls this."""
        if self.supervisor is not None:
            self.supervisor.lost(agent)

    def apply(self, notification: v1.SessionNotification) -> None:
        """Merge an update into the state, and pass it on to the turn. `deliver_update` calls this."""
        self.state.apply(notification.update)
        if self._turn is not None:
            self._turn.put(notification.update)

    def begin(self, turn: Turn) -> None:
        """Let a turn receive the updates. A turn calls this when its block is entered."""
        if self.is_closed:
            raise RuntimeError("The session is closed. Open it again with `open_session(..., load=session.id)`.")
        if self._turn is not None:
            raise RuntimeError(
                "The last turn of this session has not ended. Leave its block first, or open another session."
            )
        chunks = [like(self.agent, v1.SessionUpdateUserMessageChunk)(content=block) for block in turn.blocks]
        self._turn = turn
        for chunk in chunks:
            self.state.apply(chunk)
        self.state.end_message()

    def stop_calls(self) -> None:
        """Mark all tool calls as stopped. A turn calls this when the agent has answered."""
        self.state.stop_calls()

    def end(self) -> None:
        """Let the next turn begin. A turn calls this at its end."""
        if self._turn is not None and self._turn.stop_reason == "end_turn":
            self._warn_of_no_updates()
        self._turn = None
        self.state.end_message()
        if self.is_closed:
            self.forget()

    def _warn_of_no_updates(self) -> None:
        """Log a warning if the first turn has ended without an update: the client may not deliver them."""
        client: Any = type(self.agent.handler)
        sessions = sessions_of(self.agent)
        if not sessions.is_delivery_known and client.session_update is not UpdateHandlers.session_update:
            _logger.warning(
                "A turn has ended without an update. If the agent has sent some, %s.session_update doesn't call "
                "`deliver_update`, so the turns and the states of sessions stay empty.",
                client.__qualname__,
            )
        sessions.is_delivery_known = True

    def forget(self) -> None:
        """Stop receiving updates: now, or at the end of a turn that still runs in another task."""
        if self._turn is None:
            forget(self)

    def _blocks(self, prompt: Prompt) -> list[v1.ContentBlock]:
        if isinstance(prompt, str):
            return [like(self.agent, v1.ContentBlockText)(text=prompt)]
        return [*prompt] if isinstance(prompt, Sequence) else [prompt]


@asynccontextmanager
async def open_session(
    agent: v1.RemoteAgent,
    *,
    cwd: str | Path,
    mcp_servers: Sequence[v1.McpServer] = (),
    additional_directories: Sequence[str | Path] = (),
    load: str | None = None,
    resume: str | None = None,
    timeout: float | None = 60.0,
) -> AsyncGenerator[ClientSession]:
    """Open a session with an agent, and close it at the end of the block if the agent can close sessions.

    For example:

        async with open_session(agent, cwd=Path.cwd()) as session:
            print(await session.ask("What is in this folder?"))

    `Client.session_update` must call `deliver_update`, as in `UpdateHandlers`. Otherwise the state stays empty, and
    turns have no updates.

    Args:
        agent: the proxy of the agent, after `initialize`.
        cwd: the working directory, absolute.
        mcp_servers: the MCP servers that the agent should use.
        additional_directories: more directories that the session may use. Duplicates and `cwd` are left out.
        load: the id of an earlier session. The agent sends its history again, which fills the state.
        resume: the id of an earlier session. The agent sends no history.
        timeout: how long the agent may take to open the session, in seconds; None for no limit.

    Raises:
        TypeError: if the agent speaks version 2, or the client has not set what its handlers use, such as `self.agent`.
        ValueError: if both `load` and `resume` are given, or the session is open already.
        TimeoutError: if the agent doesn't answer in time. The message has its command and the end of its stderr.
        CapabilityError: if the agent doesn't advertise what an argument needs.
        RemoteError: if the agent refuses, for example because the user has to authenticate first.
        InvalidResponse: if the agent answers with the id of a session that is open already.
    """
    check_version(agent)
    check_client(agent)
    if load is not None and resume is not None:
        raise ValueError("Pass `load` or `resume`, not both.")
    known_id = resume if load is None else load  # an id may be empty
    if known_id is not None and known_id in sessions_of(agent):
        raise ValueError(f"The session {known_id!r} is open already.")
    directories = [*dict.fromkeys(map(str, check_sequence("additional_directories", additional_directories)))]
    if str(cwd) in directories:
        directories.remove(str(cwd))
    opening: dict[str, Any] = {
        "cwd": str(cwd),
        "mcp_servers": [*mcp_servers],
        "additional_directories": directories or ABSENT,
    }
    session = ClientSession(agent, known_id or "", opening)
    try:
        if known_id is None:
            await _create(session, timeout)
        else:
            remember(session)  # before the agent sends the history
            await (_load if load is not None else _resume)(session, timeout)
        try:
            yield session
        finally:
            session.is_closed = True
            if session.late_load is not None:
                session.late_load.cancel()
            await _close(session)
    finally:
        session.forget()


def find_session(agent: v1.RemoteAgent, session_id: str) -> ClientSession | None:
    """Return a session that `open_session` has opened; None if there is none with this id.

    For handlers of a client, which get only the id, for example to show a dialog in the right window.
    """
    return cast("ClientSession | None", sessions_of(agent).get(session_id))


async def reopen_session(session: ClientSession, agent: v1.RemoteAgent, timeout: float) -> None:
    """Load a session with the proxy of an agent that was started again, or resume it if the agent can't load sessions.

    The history that the agent sends while loading is merged into the state. If this raises, the session is unchanged.
    A load that isn't answered within `timeout` is cancelled after twice that time. The next call waits until it has
    ended. Updates that arrive meanwhile are dropped, so that the state doesn't get the history twice. Those that an
    agent sends after it has ignored the cancellation are taken for the next history.

    Raises:
        TimeoutError: if the agent doesn't answer within `timeout` seconds.
        CapabilityError: if the agent can neither load nor resume sessions.
        RemoteError: if the agent refuses.
        TypeError: if the client has not set what its handlers use.
    """
    check_client(agent)
    if session.late_load is not None:
        await asyncio.wait({session.late_load})
    reopened = ClientSession(agent, session.id, session.opening)
    reopened.state = session.state
    remember(reopened)
    try:
        if agent.supports("session/load"):
            await _load_again(session, reopened, timeout)
        else:
            await _resume(reopened, timeout)
        if session.is_closed:
            await _close(reopened)
        else:
            session.agent = agent
            remember(session)
    finally:
        forget(reopened)


async def _load_again(session: ClientSession, reopened: ClientSession, timeout: float) -> None:
    """Load a session that is known. If that takes too long, it continues as `session.late_load`."""
    load = asyncio.create_task(_load(reopened, 2 * timeout))
    load.add_done_callback(_drop_error)
    try:
        with session.state.replayed():
            async with answered_within(timeout, reopened.agent, "session/load"):
                await asyncio.wait({load})
            load.result()
    finally:
        reopened.state = SessionState()  # so that a load that continues changes nothing
        session.late_load = load
        if session.is_closed:
            load.cancel()


def _drop_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()  # marks it as retrieved


async def _create(session: ClientSession, timeout: float | None) -> None:
    """Create a session, which gets its id."""
    agent = session.agent
    async with answered_within(timeout, agent, "session/new"):
        response = await agent.session_new(**session.opening)
    # There is no await since the response, so the session is known before its first update is handled.
    if response.session_id in sessions_of(agent):
        raise InvalidResponse("session/new", "its session id belongs to a session that is open already")
    session.id = response.session_id
    remember(session)
    session.state.apply_response(response)
    session.state.end_message()


async def _load(session: ClientSession, timeout: float | None) -> None:
    async with answered_within(timeout, session.agent, "session/load"):
        response = await session.agent.session_load(session_id=session.id, **session.opening)
    session.state.apply_response(response)
    session.state.end_message()


async def _resume(session: ClientSession, timeout: float | None) -> None:
    async with answered_within(timeout, session.agent, "session/resume"):
        response = await session.agent.session_resume(session_id=session.id, **session.opening)
    session.state.apply_response(response)
    session.state.end_message()


async def _close(session: ClientSession) -> None:
    """Close a session if the agent can. Failures are ignored; the session is going away."""
    try:
        if session.agent.supports("session/close"):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await session.agent.session_close(session_id=session.id)
    except (RemoteError, InvalidResponse, ConnectionClosed, TimeoutError):
        return
