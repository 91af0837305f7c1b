"""Code that uses old names: it works, and every line with an old name warns.

A line that ends in `# W` warns once when it runs. Both type checkers report each line with `# type: ignore`.
"""

# ruff: noqa: I001
# mypy: enable-error-code="deprecated"
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import asyncio
import pickle
from importlib import import_module
from typing import TYPE_CHECKING, Any, assert_type

import acp_bindings.v1.models
from acp_bindings import v1
from acp_bindings.v1 import methods as v1_methods
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
assert not [name for name in import_module("acp_bindings.v1").__all__ if name.startswith("Old")]
assert pickle.loads(b"cacp_bindings.v1.models\nOldBlockText\n.") is BlockText  # W
assert b"Old" not in pickle.dumps(OldBlockText(words="hi"))
size: OldSize = "small"


class Words(OldBlockText):
    """A subclass of a class under its old name."""


# Methods

OPEN_OF_OLD_PEERS = ExtRequest("session/open", LoadRequest, LoadResponse, unprefixed=True)


class Shared(Agent):
    """Handles methods that were renamed, under their new names."""

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        capabilities = v1.AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=request.protocol_version, agent_capabilities=capabilities)

    async def session_new(self, request: CreateRequest) -> NewResponse:
        return NewResponse(session_id=request.cwd)

    async def session_load(self, request: LoadRequest) -> LoadResponse:
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

    async def session_cancel(self, notification: v1.CancelNotification) -> None:
        await super().session_cancel(notification)
        await self.client.session_changed(block=Words(words="stopped"), size=size)  # type: ignore # W
        self.stopped.set()


class MyClient(Client):
    def __init__(self) -> None:
        self.updates: list[UpdateNotification] = []

    async def session_update(self, notification: UpdateNotification) -> None:
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
        assert agent.supports("session/load")
        assert v1_methods.SESSION_OPEN is v1_methods.SESSION_LOAD  # W
        await agent.session_stop(session_id="s")  # type: ignore # W
        await agents[0].stopped.wait()
    assert [each.model_dump() for each in client.updates] == [
        {"block": {"type": "text", "words": "stopped"}, "size": size}
    ]


asyncio.run(converse())


# Handlers under old names


class Compatible(Shared):
    """Works with older versions of the package, too."""

    session_open = Shared.session_load


class Mixin:
    async def session_open(self, request: LoadRequest) -> LoadResponse:
        raise NotImplementedError


def refused(*bases: type, **methods: Any) -> str:
    try:
        type("Stale", bases, methods)
    except TypeError as error:
        return str(error)
    raise AssertionError("not refused")


STALE = "Stale.session_open would never be called: it is session_load now. Rename it."
assert refused(Agent, session_open=Mixin.session_open) == STALE
assert refused(Mixin, Agent) == STALE
assert refused(Client, session_changed=Mixin.session_open).startswith("Stale.session_changed would never be called")


class Incomplete(Agent):
    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        raise NotImplementedError


assert Incomplete.__abstractmethods__ == {"session_new"}


if TYPE_CHECKING:  # mistakes
    Incomplete()  # type: ignore

    async def wrong_type(agent: RemoteAgent) -> None:
        await agent.session_create(cwd=1)  # type: ignore

    OldBlockText(text="hi")  # type: ignore
    print(v1.OldNothing)  # type: ignore
