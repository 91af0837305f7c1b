"""Mistakes with a proxy's attributes for its peer and connection, with `ABSENT`, and with errors."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from pathlib import Path

from acp_bindings import v1
from acp_runtime import (
    ABSENT,
    AuthenticationRequired,
    ConnectionClosed,
    MethodNotFound,
    Options,
    RemoteError,
    RequestError,
)


class Window(v1.Client):
    title = ""


def advertised(agent: v1.RemoteAgent, client: v1.RemoteClient) -> None:
    print(agent.capabilities.load_session)  # type: ignore
    print(agent.peer_info.name)  # type: ignore
    if agent.capabilities is not None and agent.peer_info is not None:
        print(agent.capabilities.loadSession)  # type: ignore
        print(agent.capabilities.fs)  # type: ignore
        print(agent.capabilities["load_session"])  # type: ignore
        name: int = agent.peer_info.name  # type: ignore
        print(name)
    mine: v1.ClientCapabilities | None = agent.capabilities  # type: ignore
    theirs: v1.AgentCapabilities | None = client.capabilities  # type: ignore
    print(mine, theirs)
    agent.capabilities = None  # type: ignore
    agent.peer_info = None  # type: ignore
    print(agent.capabilities())  # type: ignore


def handled(agent: v1.RemoteAgent) -> None:
    print(agent.handler.title)  # type: ignore
    window: Window = agent.handler  # type: ignore
    print(window, agent.handler())  # type: ignore
    agent.handler = window  # type: ignore


async def supported(agent: v1.RemoteAgent) -> None:
    agent.supports()  # type: ignore
    agent.supports(v1.InitializeRequest)  # type: ignore
    agent.supports("session/load", "session/list")  # type: ignore
    count: str = agent.supports("session/load")  # type: ignore
    await agent.supports("session/load")  # type: ignore
    print(count)


async def ended(agent: v1.RemoteAgent) -> None:
    agent.wait_closed()  # type: ignore
    end = await agent.wait_closed()
    print(end.exitcode)  # type: ignore
    code: int = end.exit_code  # type: ignore
    last: bytes = end.stderr  # type: ignore
    print(code, last, (await agent.wait_closed).reason)  # type: ignore


def process(agent: v1.RemoteAgent) -> None:
    print(agent.process.pid)  # type: ignore
    if agent.process is not None:
        print(agent.process.stdin)  # type: ignore
        code: int = agent.process.returncode  # type: ignore
        print(code)
        agent.process.returncode = 0  # type: ignore
    agent.process = None  # type: ignore


async def spawned() -> None:
    v1.spawn_agent(v1.Client, "agent")  # type: ignore
    v1.spawn_agent(v1.RemoteAgent, "agent")  # type: ignore
    v1.spawn_agent(lambda agent: None, "agent")  # type: ignore
    v1.spawn_agent(Window, ["agent", "--acp"])  # type: ignore
    v1.spawn_agent(Window, "agent", Path("folder"))  # type: ignore
    v1.spawn_agent(Window, "agent", cwd=1)  # type: ignore
    v1.spawn_agent(Window, "agent", env={"NUMBER": 1})  # type: ignore
    v1.spawn_agent(Window, "agent", shell=True)  # type: ignore
    await v1.spawn_agent(Window, "agent")  # type: ignore
    with v1.spawn_agent(Window, "agent"):  # type: ignore
        pass
    Options(stderr="devnull")  # type: ignore
    Options(exit_deadline="5")  # type: ignore
    Options(1.0)  # type: ignore


async def absent(agent: v1.RemoteAgent) -> None:
    await agent.session_new(cwd="/work", mcp_servers=[], colour=ABSENT)  # type: ignore
    await agent.session_new(mcp_servers=[], additional_directories=ABSENT)  # type: ignore
    await agent.session_new(ABSENT, cwd="/work", mcp_servers=[])  # type: ignore
    v1.PlanEntry(content="a", priority="high", status="pending", colour=ABSENT)  # type: ignore
    v1.PlanEntry(content="a", priority="high", meta=ABSENT)  # type: ignore


async def failed(agent: v1.RemoteAgent) -> None:
    try:
        await agent.authenticate(method_id="a")
    except AuthenticationRequired as error:
        print(error.hint)  # type: ignore
    except RemoteError as error:
        print(error.text)  # type: ignore
        code: str = error.code  # type: ignore
        print(code)
    except ConnectionClosed as error:
        print(error.code)  # type: ignore
    raise AuthenticationRequired(-32000, 1, 2)  # type: ignore


def raised() -> None:
    RequestError("not found")  # type: ignore
    RequestError("-32002", "not found")  # type: ignore
    MethodNotFound()  # type: ignore
    ConnectionClosed("over", "1")  # type: ignore
