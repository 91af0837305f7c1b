"""An agent that is started again when it ends, and its sessions opened again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from logging import getLogger
from math import inf
from pathlib import Path
from typing import Literal

from acp_bindings.v1 import McpServer, RemoteAgent
from acp_kit.client.deadlines import limited
from acp_kit.client.sessions import ClientSession, open_session, reopen_session
from acp_kit.common.shielded_tasks import run_to_end
from acp_runtime import ConnectionClosed

_logger = getLogger(__name__)


@dataclass(frozen=True)
class AgentChange:
    """What has become of a `Supervised` agent.

    Attributes:
        status: `restarting` if it ended, or could not be started again; `running` once it runs again and its sessions
            have been opened again; `failed` if there will be no further attempt.
        error: why it ended or could not be started; None if it runs.
        delay: how many seconds pass before the next attempt; None unless it is `restarting`.
        lost: the sessions that could not be opened again, by id, and why. Empty unless it is `running`.
    """

    status: Literal["restarting", "running", "failed"]
    error: Exception | None = None
    delay: float | None = None
    lost: Mapping[str, Exception] = field(default_factory=dict[str, Exception])


class AgentFailed(ConnectionClosed):
    """A `Supervised` agent has failed too often in a row, and is not started again. The cause is its last error."""


class SessionLost(ConnectionClosed):
    """A session could not be opened again after its agent was started again. The cause says why."""


class Supervised:
    """An agent that is started again when it ends. Use it as an async context manager:

        @asynccontextmanager
        async def start() -> AsyncGenerator[RemoteAgent]:
            async with spawn_agent(MyClient, "my-agent") as agent:
                await agent.initialize(protocol_version=1)
                yield agent

        async with Supervised(start) as agents, agents.open_session(cwd="/path/to/project") as session:
            async with session.prompt("hello") as turn:
                ...

    If the first start fails, the block raises its error. When the agent ends later, it is started again after the first
    of `delays`, after the second one if that fails, and so on. After as many attempts in a row as there are delays, it
    is not started again.

    A turn in which the agent ends raises `ConnectionClosed`, and its prompt is not sent again. The sessions of
    `open_session` are loaded when the agent runs again, or resumed if it can't load. Meanwhile, `session.prompt` and
    the other methods of a session wait. They raise `SessionLost` if the session could not be opened again, and
    `AgentFailed` if the agent is not started again.

    Args:
        start: returns a context manager that starts an agent and yields its proxy when it can be used, that is after
            `initialize`. It is called for each process, and so is the factory of the client that it passes to
            `spawn_agent`.
        delays: how many seconds to wait before each attempt.
        stable_after: the uptime in seconds after which the count of attempts begins again.
        start_deadline: how long the agent may take to become usable, in seconds; None for no limit.
        reopen_deadline: how long the agent may take to open a session again, in seconds, before the session is lost.
        on_change: called with each change. What it raises is logged.
    """

    def __init__(
        self,
        start: Callable[[], AbstractAsyncContextManager[RemoteAgent]],
        *,
        delays: Sequence[float] = (0, 1, 2, 4, 8, 16),
        stable_after: float = 60.0,
        start_deadline: float | None = 60.0,
        reopen_deadline: float = 60.0,
        on_change: Callable[[AgentChange], None] = lambda change: None,
    ) -> None:
        self._start = start
        self._delays = delays
        self._stable_after = stable_after
        self._start_deadline = start_deadline
        self._reopen_deadline = reopen_deadline
        self._on_change = on_change
        self._sessions: dict[ClientSession, Exception | None] = {}  # with the reason if one is lost
        self._agent: RemoteAgent | None = None
        self._changed = asyncio.Event()
        self._end: ConnectionClosed | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Supervised:
        if self._task is not None:
            raise RuntimeError("A Supervised can be used for one block. Make another one.")
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._supervise(ready), name="acp-supervised")
        try:
            await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._stop(self._task)
            raise
        if not ready.done():
            self._task.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        task = self._begun()
        await self._stop(task)
        if not task.cancelled():
            task.result()

    async def _stop(self, task: asyncio.Task[None]) -> None:
        if self._end is None:
            self._end = ConnectionClosed("The agent was ended by this side.")
            self._notify()
        task.cancel()
        await run_to_end(asyncio.wait({task}), task.cancel)

    async def agent(self) -> RemoteAgent:
        """Return the proxy of the agent. Waits while the agent is being started again.

        Raises:
            AgentFailed: if the agent is not started again.
            ConnectionClosed: if the block has been left.
        """
        self._begun()
        await asyncio.sleep(0)  # otherwise, a loop that tries again at once would keep the end from being noticed
        while self._agent is None:
            await self._change()
        return self._agent

    @asynccontextmanager
    async def open_session(
        self,
        *,
        cwd: str | Path,
        mcp_servers: Sequence[McpServer] = (),
        additional_directories: Sequence[str | Path] = (),
        load: str | None = None,
        resume: str | None = None,
        timeout: float | None = 60.0,
    ) -> AsyncGenerator[ClientSession]:
        """Open a session that is opened again whenever the agent was started again.

        The arguments and errors are those of the function `open_session`, and the errors of `agent`.
        """
        agent = await self.agent()
        async with open_session(
            agent,
            cwd=cwd,
            mcp_servers=mcp_servers,
            additional_directories=additional_directories,
            load=load,
            resume=resume,
            timeout=timeout,
        ) as session:
            session.supervisor = self
            self._sessions[session] = None
            try:
                yield session
            finally:
                del self._sessions[session]
                self._notify()

    async def ready(self, session: ClientSession) -> None:
        """Wait until a session can be used. Its methods call this.

        Raises:
            SessionLost: if it could not be opened again.
            AgentFailed: if the agent is not started again.
            ConnectionClosed: if the block has been left.
        """
        await asyncio.sleep(0)  # as in `agent`
        while session in self._sessions and session.agent is not self._agent:
            if (error := self._sessions[session]) is not None:
                raise SessionLost(f"The session {session.id!r} could not be opened again: {error}") from error
            await self._change()

    def lost(self, agent: RemoteAgent) -> None:
        """Note that an agent has ended. A session calls this, because a turn can fail before the process has ended."""
        if self._agent is agent:
            self._agent = None

    async def _supervise(self, ready: asyncio.Future[None]) -> None:
        """Start the agent until it fails too often, or this is cancelled. Raise the error of the first start."""
        delays, attempts = iter(self._delays), 0
        try:
            while True:
                ran, error = await self._run(ready)
                if self._end is not None:
                    return
                if ran >= self._stable_after:
                    delays, attempts = iter(self._delays), 0
                delay, attempts = next(delays, None), attempts + 1
                if delay is None:
                    self._fail(error, attempts)
                    return
                _logger.warning("The agent is started again in %s seconds: %s", delay, error)
                self._tell(AgentChange("restarting", error, delay))
                await asyncio.sleep(delay)
        finally:
            self._end = self._end or ConnectionClosed("The agent is not started again, because of an error.")
            self._notify()

    async def _run(self, ready: asyncio.Future[None]) -> tuple[float, Exception]:
        """Start the agent, and open its sessions again. Return for how many seconds it ran, and why it ended.

        If it could not be started, the time is negative. The error of the first start is raised.
        """
        loop, began = asyncio.get_running_loop(), inf
        try:
            async with AsyncExitStack() as stack:
                late = f"The agent could not be used after {self._start_deadline} seconds (Supervised.start_deadline)."
                async with limited(self._start_deadline, lambda: late):
                    agent = await stack.enter_async_context(self._start())
                began = loop.time()
                self._agent = agent
                await self._open_again(agent, ready)
                error: Exception = await agent.wait_closed()
                self._agent = None
        except Exception as raised:
            if not ready.done():
                raise
            error = raised
        finally:
            self._agent = None
        return loop.time() - began, error

    async def _open_again(self, agent: RemoteAgent, ready: asyncio.Future[None]) -> None:
        self._notify()
        if not ready.done():
            ready.set_result(None)
            return
        kept = [session for session, error in self._sessions.items() if error is None]
        await asyncio.gather(*(self._reopen(session, agent) for session in kept))
        if self._agent is agent:
            lost = {session.id: error for session in kept if (error := self._sessions.get(session)) is not None}
            self._tell(AgentChange("running", lost=lost))

    async def _reopen(self, session: ClientSession, agent: RemoteAgent) -> None:
        failure: Exception | None = None
        try:
            await reopen_session(session, agent, self._reopen_deadline)
        except ConnectionClosed:
            self.lost(agent)
        except Exception as error:
            failure = error
        if session in self._sessions:
            self._sessions[session] = failure
        self._notify()

    def _fail(self, error: Exception, attempts: int) -> None:
        self._end = AgentFailed(f"The agent failed {attempts} times in a row, and is not started again: {error}")
        self._end.__cause__ = error
        _logger.error("%s", self._end)
        self._tell(AgentChange("failed", error))
        self._notify()

    def _begun(self) -> asyncio.Task[None]:
        if self._task is None:
            raise RuntimeError("The agent was not started. Use Supervised in a block: `async with Supervised(...)`.")
        return self._task

    def _tell(self, change: AgentChange) -> None:
        try:
            self._on_change(change)
        except Exception:
            _logger.exception("on_change of a Supervised agent raised an error")

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _change(self) -> None:
        """Wait for the next change.

        Raises:
            ConnectionClosed: if there will be none.
        """
        if self._end is not None:
            raise type(self._end)(self._end.reason) from self._end.__cause__
        await self._changed.wait()
