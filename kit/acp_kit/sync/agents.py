"""Starts and calls agents without `await`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar
from weakref import finalize

from acp_bindings import v1
from acp_kit.client import PermissionHandlers, PermissionPolicy, UpdateHandlers, client_capabilities, open_session
from acp_kit.client.deadlines import answered_within
from acp_kit.client.permission_rules import Rule
from acp_kit.sync.callbacks import in_waiting_thread
from acp_kit.sync.event_loop import EventLoopThread
from acp_kit.sync.sessions import OpenedSession, SyncSession
from acp_runtime import Options
from acp_runtime.escaping import printable

P = ParamSpec("P")
R = TypeVar("R")


class SyncAgent:
    """An agent that `spawn_agent` has started. `close`, the end of a `with` block, or the exit of Python ends it.

    Any thread may use it.

    Attributes:
        remote: the proxy of the agent, for its attributes, such as `capabilities`. Call its methods with `call`.
        initialized: its response to `initialize`, which has the login methods.
    """

    def __init__(self, thread: EventLoopThread[OpenedAgent]) -> None:
        self._thread = thread
        self.remote: v1.RemoteAgent = thread.value.remote
        self.initialized: v1.InitializeResponse = thread.value.initialized
        # Closes it when it is garbage. At the exit of Python, the thread closes it.
        finalize(self, thread.begin_close).atexit = False

    def __repr__(self) -> str:
        info = self.remote.peer_info
        process = self.remote.process
        name = "without a name" if info is None else printable(f"{info.name} {info.version}")
        return f"<SyncAgent {name}, process {None if process is None else process.pid}>"

    def __enter__(self) -> SyncAgent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def call(self, method: Callable[P, Awaitable[R]], /, *args: P.args, **keywords: P.kwargs) -> R:
        """Call a method of the proxy, or any other coroutine function for its event loop, and return its result.

        For example, `agent.call(agent.remote.session_list)`.

        Raises:
            RuntimeError: if this thread runs an event loop.
            ConnectionClosed: if the agent was closed.
        """
        return self._thread.call(method, *args, **keywords)

    def open_session(
        self,
        *,
        cwd: str | Path | None = None,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[str | Path] = (),
        load: str | None = None,
        resume: str | None = None,
        timeout: float | None = 60.0,
    ) -> SyncSession:
        """Open a session: `with agent.open_session() as session`.

        Args:
            cwd: the working directory, absolute; by default that of this process.
            mcp_servers: the MCP servers that the agent should use.
            additional_directories: additional directories that the session may use.
            load: the id of an earlier session. The agent sends its history again, which fills the state.
            resume: the id of an earlier session. The agent sends no history.
            timeout: how long the agent may take to open the session, in seconds; None for no limit.

        Raises:
            ValueError: if both `load` and `resume` are given, or the session is open already.
            TimeoutError: if the agent doesn't answer in time. The message has its command and the end of its stderr.
            CapabilityError: if the agent doesn't advertise what an argument needs.
            RemoteError: if the agent refuses, for example because the user has to authenticate first.
        """
        context = open_session(
            self.remote,
            cwd=Path.cwd() if cwd is None else cwd,
            mcp_servers=mcp_servers,
            additional_directories=additional_directories,
            load=load,
            resume=resume,
            timeout=timeout,
        )
        opened = OpenedSession(self._thread.value.sessions)
        try:
            self.call(opened.enter, context)
        except KeyboardInterrupt:
            self.call(opened.close)
            raise
        return SyncSession(self._thread, opened)

    def close(self) -> None:
        """Close the sessions and end the agent, as `acp_bindings.v1.spawn_agent` does. May be called twice."""
        self._thread.close()


class OpenedAgent:
    """An agent in its event loop, with its open sessions."""

    def __init__(self, remote: v1.RemoteAgent, initialized: v1.InitializeResponse) -> None:
        self.remote = remote
        self.initialized = initialized
        self.sessions: set[OpenedSession] = set()


class _DefaultClient(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent, permissions: PermissionPolicy) -> None:
        self.agent = agent
        self.permissions = permissions


def spawn_agent(
    command: str,
    *args: str,
    rules: Sequence[Rule] = (),
    ask: Callable[[v1.RequestPermissionRequest], str | None] | None = None,
    client: Callable[[v1.RemoteAgent], v1.Client] | None = None,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    inherit_env: bool | Collection[str] | None = None,
    timeout: float | None = 60.0,
    options: Options | None = None,
) -> SyncAgent:
    """Start an agent as a subprocess, and initialize the connection: `with spawn_agent("gemini", "--acp") as agent`.

    Without `rules`, `ask` and `client`, permission requests are rejected, and the client serves neither files nor
    terminals.

    Args:
        command: the program to run.
        args: its arguments.
        rules: the rules for permission requests, as in `PermissionPolicy`.
        ask: called if no rule matches. Returns the id of an option of the request, or None to reject. It runs in the
            thread that waits for the turn, so it may block (see `in_waiting_thread`).
        client: makes the client from the proxy for the agent, instead of `rules` and `ask`. Its handlers are coroutine
            functions and run in the event loop's thread.
        cwd: the folder to run the agent in; by default this process's.
        env: environment variables to set. They have precedence over inherited ones.
        inherit_env: the environment variables of this process to inherit, as in `Options`.
        timeout: how long the agent may take to answer `initialize`, in seconds; None for no limit.
        options: how the connection and the process behave.

    Raises:
        RuntimeError: if this thread runs an event loop, unless a user types the program, as in a notebook.
        OSError: if the command can't be started.
        TimeoutError: if the agent doesn't answer in time. The message has its command and the end of its stderr.
        ConnectionClosed: if the agent exits before it answers.
        RemoteError: if it answers with an error.
        ProtocolVersionMismatch: if it doesn't support version 1 of the protocol.
        ValueError: if `client` is given together with `rules` or `ask`.
    """
    if client is not None and (rules or ask):
        raise ValueError("Pass `client`, or `rules` and `ask`. A client answers permission requests itself.")
    policy = PermissionPolicy(*rules, ask=in_waiting_thread(ask) if ask else None)
    spawned = v1.spawn_agent(
        client or (lambda remote: _DefaultClient(remote, policy)),
        command,
        *args,
        cwd=cwd,
        env=env,
        inherit_env=inherit_env,
        options=options or Options(),
    )
    return SyncAgent(EventLoopThread(_initialized(spawned, timeout)))


@asynccontextmanager
async def _initialized(
    spawned: AbstractAsyncContextManager[v1.RemoteAgent], timeout: float | None
) -> AsyncGenerator[OpenedAgent]:
    async with spawned as remote:
        async with answered_within(timeout, remote, "initialize"):
            capabilities = client_capabilities(remote.handler)
            initialized = await remote.initialize(protocol_version=1, client_capabilities=capabilities)
        opened = OpenedAgent(remote, initialized)
        try:
            yield opened
        finally:
            for session in [*opened.sessions]:
                await session.close()
