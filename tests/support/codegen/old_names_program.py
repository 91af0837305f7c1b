"""Code that uses old names: it works, and every line with an old name warns.

A line that ends in `# W` warns once when it runs. Both type checkers report each line with `# type: ignore`.
"""

# ruff: noqa: I001
# mypy: enable-error-code="deprecated"
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import asyncio
import logging
import pickle
from typing import TYPE_CHECKING, Any, assert_type

import acp_bindings.v1.models
from acp_bindings import v1
from acp_bindings.v1 import (
    Agent,
    Block,
    BlockText,
    Client,
    InitializeRequest,
    InitializeResponse,
    LoadRequest,
    LoadResponse,
    NewRequest,
    NewResponse,
    OptionRequest,
    OptionResponse,
    RemoteAgent,
    RemoteClient,
    Size,
    UpdateNotification,
    connect_in_process,
)
from acp_runtime import ExtRequest, handles
from acp_bindings.v1 import CreateRequest  # W
from acp_bindings.v1 import OldBlock as Alias  # W
from acp_bindings.v1 import OldBlockText  # W
from acp_bindings.v1.models import OldSize  # W

# Definitions

assert (OldBlockText, Alias, OldSize, CreateRequest) == (BlockText, Block, Size, NewRequest)
assert v1.OldWords is v1.Words  # W
assert acp_bindings.v1.models.OldBlockOther is v1.BlockOther  # W
assert_type(OldBlockText(words="hi"), BlockText)
other: Alias = v1.OldBlockOther(type="new")  # W
assert isinstance(other, v1.BlockOther)
assert not isinstance(other, OldBlockText)
assert not [each for module in (v1, v1.models) for each in dir(module) if each.startswith("Old")]
assert not [name for name in v1.__all__ if name.startswith("Old")]
assert pickle.loads(b"cacp_bindings.v1.models\nOldBlockText\n.") is BlockText  # W
assert b"Old" not in pickle.dumps(OldBlockText(words="hi"))
size: OldSize = "small"


class Words(OldBlockText):
    """A subclass of a class under its old name."""


# Methods

OPEN_OF_OLD_PEERS = ExtRequest("session/open", LoadRequest, LoadResponse, unprefixed=True)


class Shared(Agent):
    """Handles methods under old names, one of them a baseline method."""

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        capabilities = v1.AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=request.protocol_version, agent_capabilities=capabilities)

    async def session_create(self, request: CreateRequest) -> NewResponse:  # W
        return NewResponse(session_id=request.cwd)

    async def session_open(self, request: LoadRequest) -> LoadResponse:  # W
        return LoadResponse(note=f"opened {request.session_id}")


class MyAgent(Shared):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.stopped = asyncio.Event()

    async def session_set_config_option(self, request: OptionRequest) -> OptionResponse:
        return OptionResponse(note=request.type)

    @handles(OPEN_OF_OLD_PEERS)
    async def open_for_old_peers(self, request: LoadRequest) -> LoadResponse:
        return LoadResponse(note="for an old peer")

    async def session_stop(self, notification: v1.CancelNotification) -> None:  # W
        await super().session_stop(notification)  # type: ignore # W
        await self.client.session_changed(block=Words(words="stopped"), size=size)  # type: ignore # W
        self.stopped.set()


class MyClient(Client):
    def __init__(self) -> None:
        self.updates: list[UpdateNotification] = []

    async def session_changed(self, notification: UpdateNotification) -> None:  # W
        self.updates.append(notification)


async def converse() -> None:
    client, agents = MyClient(), list[MyAgent]()

    def make_agent(remote: RemoteClient) -> Agent:
        agents.append(MyAgent(remote))
        return agents[0]

    def make_client(remote: RemoteAgent) -> Client:
        return client

    async with connect_in_process(make_agent, make_client) as agent:
        await agent.initialize(protocol_version=1)
        created = await agent.session_create(cwd="/a")  # type: ignore # W
        assert_type(created, NewResponse)
        assert created == await agent.session_new(cwd="/a") == await agent.request(CreateRequest(cwd="/a"))
        opened = await agent.session_open(session_id="/a")  # type: ignore # W
        assert opened.note == "opened /a"
        assert (await agent.call(OPEN_OF_OLD_PEERS, LoadRequest(session_id="s"))).note == "for an old peer"
        option = await agent.session_set_option(session_id="s", type="boolean", value=True)  # type: ignore # W
        assert option.note == "boolean"
        assert agent.supports("session/open")  # W
        assert agent.supports("session/load")
        await agent.session_stop(session_id="s")  # type: ignore # W
        await agents[0].stopped.wait()
        for _ in range(3):
            await agents[0].session_open(LoadRequest(session_id="s"))
    assert [each.model_dump() for each in client.updates] == [
        {"block": {"type": "text", "words": "stopped"}, "size": size}
    ]


class Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


messages = Messages()
logging.getLogger("acp_runtime").addHandler(messages)
asyncio.run(converse())
assert messages.messages == []  # session/load is advertised, and implemented under its old name


# Which of several names counts


class Mixin:
    async def session_open(self: Any, request: LoadRequest) -> LoadResponse:  # W
        return LoadResponse(note=f"mixin, {(await super().session_open(request)).note}")  # type: ignore[misc]


class Mixed(Mixin, Shared):
    """Gets an override under an old name from a class that is no handler."""


class Newer(Shared):
    async def session_load(self, request: LoadRequest) -> LoadResponse:
        return LoadResponse(note="newer")


class Both(Shared):
    async def session_load(self, request: LoadRequest) -> LoadResponse:
        return LoadResponse(note="both")

    async def session_open(self, request: LoadRequest) -> LoadResponse:  # W
        raise NotImplementedError


class Compatible(Shared):
    async def session_load(self, request: LoadRequest) -> LoadResponse:
        return LoadResponse(note="compatible")

    session_open = session_load


class Loader:
    async def __call__(self, request: LoadRequest) -> LoadResponse:
        return LoadResponse(note="called")


class WithCallable(Shared):  # W
    session_open: Any = Loader()


def loaded(agent: Agent) -> str:
    return asyncio.run(agent.session_load(LoadRequest(session_id="s"))).note


assert loaded(Shared()) == "opened s"
assert loaded(Newer()) == "newer"
assert asyncio.run(Newer().session_open(LoadRequest(session_id="s"))).note == "newer"
assert loaded(Both()) == "both"
assert loaded(WithCallable()) == "called"
assert loaded(Compatible()) == "compatible"
assert loaded(Mixed()) == "mixin, opened s"


class Incomplete(Agent):
    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        raise NotImplementedError


assert Incomplete.__abstractmethods__ == {"session_new"}


if TYPE_CHECKING:  # mistakes

    class WrongResult(Agent):
        async def session_open(self, request: LoadRequest) -> NewResponse:  # type: ignore
            raise NotImplementedError

    async def wrong_type(agent: RemoteAgent) -> None:
        await agent.session_create(cwd=1)  # type: ignore

    OldBlockText(text="hi")  # type: ignore
    print(v1.OldNothing)  # type: ignore
