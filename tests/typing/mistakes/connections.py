"""Mistakes with a proxy's attributes for its peer and connection, with `ABSENT`, and with errors."""

from __future__ import annotations

from pathlib import Path

from acp_bindings.v1 import (
    AgentCapabilities,
    Client,
    ClientCapabilities,
    InitializeRequest,
    PlanEntry,
    RemoteAgent,
    RemoteClient,
    spawn_agent,
)
from acp_runtime import (
    ABSENT,
    AuthenticationRequired,
    ConnectionClosed,
    MethodNotFound,
    Options,
    RemoteError,
    RequestError,
)


class Window(Client):
    title = ""


def advertised(agent: RemoteAgent, client: RemoteClient) -> None:
    print(agent.capabilities.load_session)  # E
    print(agent.peer_info.name)  # E
    if agent.capabilities is not None and agent.peer_info is not None:
        print(agent.capabilities.loadSession)  # E
        print(agent.capabilities.fs)  # E
        print(agent.capabilities["load_session"])  # E
        name: int = agent.peer_info.name  # E
        print(name)
    mine: ClientCapabilities | None = agent.capabilities  # E
    theirs: AgentCapabilities | None = client.capabilities  # E
    print(mine, theirs)
    agent.capabilities = None  # E
    agent.peer_info = None  # E
    print(agent.capabilities())  # E


def handled(agent: RemoteAgent) -> None:
    print(agent.handler.title)  # E
    window: Window = agent.handler  # E
    print(window, agent.handler())  # E
    agent.handler = window  # E


async def supported(agent: RemoteAgent) -> None:
    agent.supports()  # E
    agent.supports(InitializeRequest)  # E
    agent.supports("session/load", "session/list")  # E
    count: str = agent.supports("session/load")  # E
    await agent.supports("session/load")  # E
    print(count)


async def ended(agent: RemoteAgent) -> None:
    agent.wait_closed()  # E
    end = await agent.wait_closed()
    print(end.exitcode)  # E
    code: int = end.exit_code  # E
    last: bytes = end.stderr  # E
    print(code, last, (await agent.wait_closed).reason)  # E


def process(agent: RemoteAgent) -> None:
    print(agent.process.pid)  # E
    if agent.process is not None:
        print(agent.process.stdin)  # E
        code: int = agent.process.returncode  # E
        print(code)
        agent.process.returncode = 0  # E
    agent.process = None  # E


async def spawned() -> None:
    spawn_agent(Client, "agent")  # E
    spawn_agent(RemoteAgent, "agent")  # E
    spawn_agent(lambda agent: None, "agent")  # E
    spawn_agent(Window, ["agent", "--acp"])  # E
    spawn_agent(Window, "agent", Path("folder"))  # E
    spawn_agent(Window, "agent", cwd=1)  # E
    spawn_agent(Window, "agent", env={"NUMBER": 1})  # E
    spawn_agent(Window, "agent", shell=True)  # E
    await spawn_agent(Window, "agent")  # E
    with spawn_agent(Window, "agent"):  # E
        pass
    Options(stderr="devnull")  # E
    Options(exit_deadline="5")  # E
    Options(1.0)  # E


async def absent(agent: RemoteAgent) -> None:
    await agent.session_new(cwd="/work", mcp_servers=[], colour=ABSENT)  # E
    await agent.session_new(mcp_servers=[], additional_directories=ABSENT)  # E
    await agent.session_new(ABSENT, cwd="/work", mcp_servers=[])  # E
    PlanEntry(content="a", priority="high", status="pending", colour=ABSENT)  # E
    PlanEntry(content="a", priority="high", meta=ABSENT)  # E


async def failed(agent: RemoteAgent) -> None:
    try:
        await agent.authenticate(method_id="a")
    except AuthenticationRequired as error:
        print(error.hint)  # E
    except RemoteError as error:
        print(error.text)  # E
        code: str = error.code  # E
        print(code)
    except ConnectionClosed as error:
        print(error.code)  # E
    raise AuthenticationRequired(-32000, 1, 2)  # E


def raised() -> None:
    RequestError("not found")  # E
    RequestError("-32002", "not found")  # E
    MethodNotFound()  # E
    ConnectionClosed("over", "1")  # E
