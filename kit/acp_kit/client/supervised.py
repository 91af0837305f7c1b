"""Starts an agent again when it ends, and opens its sessions again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import Literal

from acp_bindings.v1 import McpServer, RemoteAgent
from acp_kit.client.deadlines import time_limit
from acp_kit.client.sessions import ClientSession, open_session, reopen_session
from acp_kit.common.shielded_tasks import run_to_end
from acp_runtime import ConnectionClosed

_logger = getLogger(__name__)


@dataclass(frozen=True)
class AgentChange:
    """A change of the status of a `Supervised` agent.

    Attributes:
        status: `restarting` if it ended, or a restart failed; `running` once it runs again and its sessions are open
            again; `failed` if there will be no further attempt.
        error: why it ended or could not be started; None if it runs.
        delay: the seconds until the next attempt; None unless the status is `restarting`.
        lost: why sessions could not be reopened, by session id. Empty unless the status is `running`.
    """

    status: Literal["restarting", "running", "failed"]
    error: Exception | None = None
    delay: float | None = None
    lost: Mapping[str, Exception] = field(default_factory=dict[str, Exception])


class AgentFailed(ConnectionClosed):
    """A `Supervised` agent has failed too often in a row, and is not restarted any more. The cause is its last
    error."""


class SessionLost(ConnectionClosed):
    """A session could not be reopened after its agent was restarted. The cause says why.

    The next use of the session tries again, and so does the next start of the agent.
    """


@dataclass
class _Reopening:
    """How a session is opened again.

    Attributes:
        error: why the last attempt failed; None if it didn't.
        lock: held during an attempt.
    """

    error: Exception | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Supervised:
    """An agent that is restarted when it ends. Use it as an async context manager:

        @asynccontextmanager
        async def start() -> AsyncGenerator[RemoteAgent]:
            async with spawn_agent(MyClient, "my-agent") as agent:
                await agent.initialize(protocol_version=1)
                yield agent

        async with Supervised(start) as agents, agents.open_session(cwd="/path/to/project") as session:
            async with session.prompt("hello") as turn:
                ...

    If the first start fails, the block raises its error. When the agent ends later, it is restarted after the first of
    `delays`. If that attempt fails, the next one follows after the second delay, and so on. After the last attempt, the
    agent is not restarted any more.

    If the agent ends during a turn, the turn raises `ConnectionClosed`, and its prompt is not sent again. The sessions
    of `open_session` are loaded when the agent runs again, or resumed if it can't load sessions. Meanwhile,
    `session.prompt` and the other methods of a session wait. They raise `SessionLost` if the session couldn't be
    reopened (the next use tries again), and `AgentFailed` if the agent is not restarted any more.

    Args:
        start: returns a context manager that starts an agent, calls `initialize`, and yields the proxy. It is called
            for each process. So is the client's factory that it passes to `spawn_agent`.
        delays: the seconds to wait before each attempt.
        stable_after: the uptime in seconds after which the count of attempts starts over.
        start_deadline: how long the agent may take to become usable, in seconds; None for no limit.
        reopen_deadline: how long the agent may take to reopen a session, in seconds, before the session is lost.
        on_change: called with each change. Its exceptions are logged.
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
        self._sessions: dict[ClientSession, _Reopening] = {}
        self._agent: RemoteAgent | None = None
        self._changed = asyncio.Event()
        self._end: ConnectionClosed | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Supervised:
        if self._task is not None:
            raise RuntimeError("A Supervised can be used for one block only. Make another one.")
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
        task = self._started_task()
        await self._stop(task)
        if not task.cancelled():
            task.result()

    async def _stop(self, task: asyncio.Task[None]) -> None:
        if self._end is None:
            self._end = ConnectionClosed("The agent was ended by this side.")
            self._wake_waiting()
        task.cancel()
        await run_to_end(asyncio.wait({task}), task.cancel)

    async def agent(self) -> RemoteAgent:
        """Return the proxy of the agent. Waits while the agent is being restarted.

        Raises:
            AgentFailed: if the agent is not restarted any more.
            ConnectionClosed: if the block has been left.
        """
        self._started_task()
        await asyncio.sleep(0)  # otherwise, a loop that retries without a pause would block the event loop
        while self._agent is None:
            await self._wait_for_change()
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
        """Open a session, which is reopened whenever the agent is restarted.

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
            self._sessions[session] = _Reopening()
            try:
                yield session
            finally:
                del self._sessions[session]
                self._wake_waiting()

    async def ready(self, session: ClientSession) -> None:
        """Wait until a session can be used. Its methods call this. If the session is lost, try once to open it again.

        Raises:
            SessionLost: if it could not be opened again.
            AgentFailed: if the agent is not restarted any more.
            ConnectionClosed: if the block has been left.
        """
        await asyncio.sleep(0)  # as in `agent`
        reopening = self._sessions.get(session)
        if reopening is None:
            return
        if reopening.error is not None and self._agent is not None and not reopening.lock.locked():
            await self._reopen(session, reopening, self._agent)
        while session in self._sessions and session.agent is not self._agent:
            error = reopening.error
            if error is not None and self._agent is not None and not reopening.lock.locked():
                raise SessionLost(f"The session {session.id!r} could not be opened again: {error}") from error
            await self._wait_for_change()

    def lost(self, agent: RemoteAgent) -> None:
        """Note that an agent has ended. A session calls this, because a turn may fail before the process has ended."""
        if self._agent is agent:
            self._agent = None

    async def _supervise(self, ready: asyncio.Future[None]) -> None:
        """Start the agent until it fails too often, or this is cancelled. Raise the error of the first start."""
        failures = 0
        try:
            while True:
                uptime, error = await self._run(ready)
                if self._end is not None:
                    return
                if uptime is not None and uptime >= self._stable_after:
                    failures = 0
                if failures == len(self._delays):
                    self._fail(error, failures + 1)
                    return
                delay = self._delays[failures]
                failures += 1
                _logger.warning("The agent is started again in %s seconds: %s", delay, error)
                self._report(AgentChange("restarting", error, delay))
                await asyncio.sleep(delay)
        finally:
            self._end = self._end or ConnectionClosed("The agent is not started again, because of an error.")
            self._wake_waiting()

    async def _run(self, ready: asyncio.Future[None]) -> tuple[float | None, Exception]:
        """Start the agent, and open its sessions again. Return its uptime in seconds, and why it ended.

        The uptime is None if the agent could not be started. The error of the first start is raised.
        """
        loop = asyncio.get_running_loop()
        started_at: float | None = None
        try:
            async with AsyncExitStack() as stack:
                late = f"The agent could not be used within {self._start_deadline} seconds (Supervised.start_deadline)."
                async with time_limit(self._start_deadline, lambda: late):
                    agent = await stack.enter_async_context(self._start())
                started_at = loop.time()
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
        return None if started_at is None else loop.time() - started_at, error

    async def _open_again(self, agent: RemoteAgent, ready: asyncio.Future[None]) -> None:
        self._wake_waiting()
        if not ready.done():
            ready.set_result(None)
            return
        await asyncio.gather(*(self._reopen(*item, agent) for item in self._sessions.items()))
        if self._agent is agent:
            errors = {session.id: reopening.error for session, reopening in self._sessions.items()}
            lost = {session_id: error for session_id, error in errors.items() if error is not None}
            self._report(AgentChange("running", lost=lost))

    async def _reopen(self, session: ClientSession, reopening: _Reopening, agent: RemoteAgent) -> None:
        try:
            async with reopening.lock:
                if session.agent is agent or session not in self._sessions:
                    return
                await reopen_session(session, agent, self._reopen_deadline)
                reopening.error = None
        except ConnectionClosed:
            reopening.error = None  # it is opened again with the next agent
            self.lost(agent)
        except Exception as error:
            reopening.error = error
        finally:
            self._wake_waiting()

    def _fail(self, error: Exception, attempts: int) -> None:
        self._end = AgentFailed(f"The agent failed {attempts} times in a row, and is not started again: {error}")
        self._end.__cause__ = error
        _logger.error("%s", self._end)
        self._report(AgentChange("failed", error))
        self._wake_waiting()

    def _started_task(self) -> asyncio.Task[None]:
        if self._task is None:
            raise RuntimeError("The agent was not started. Use Supervised in a block: `async with Supervised(...)`.")
        return self._task

    def _report(self, change: AgentChange) -> None:
        try:
            self._on_change(change)
        except Exception:
            _logger.exception("on_change of a Supervised agent raised an error")

    def _wake_waiting(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait_for_change(self) -> None:
        """Wait for the next change.

        Raises:
            ConnectionClosed: if there will be none.
        """
        if self._end is not None:
            raise type(self._end)(self._end.reason) from self._end.__cause__
        await self._changed.wait()
