"""Code that uses old names: it works, and every line with an old name warns.

A line that ends in `# W` warns once when it runs. Both type checkers report each line with `# type: ignore`.
"""

# ruff: noqa: I001
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import asyncio
import pickle
from importlib import import_module
from typing import TYPE_CHECKING, assert_type

import acp_bindings.v1.models
from acp_bindings import v1
from acp_bindings.v1 import (
    Agent,
    Block,
    BlockText,
    Client,
    InitializeRequest,
    InitializeResponse,
    NewRequest,
    NewResponse,
    Size,
    UpdateNotification,
    connect_in_process,
)
from acp_bindings.v1 import CreateRequest  # W
from acp_bindings.v1 import OldBlock as Alias  # W
from acp_bindings.v1 import OldBlockText  # W
from acp_bindings.v1.models import OldSize  # W

assert (OldBlockText, Alias, OldSize, CreateRequest) == (BlockText, Block, Size, NewRequest)
assert v1.OldWords is v1.Words  # W
assert acp_bindings.v1.models.OldBlockOther is v1.BlockOther  # W
assert_type(OldBlockText(words="hi"), BlockText)
other: Alias = v1.OldBlockOther(type="new")  # W
assert isinstance(other, v1.BlockOther)
assert not isinstance(other, OldBlockText)
assert not [name for module in (v1, v1.models) for name in dir(module) if name.startswith("Old")]
assert not [name for name in import_module("acp_bindings.v1").__all__ if name.startswith("Old")]
assert pickle.loads(b"cacp_bindings.v1.models\nOldBlockText\n.") is BlockText  # W
assert b"Old" not in pickle.dumps(OldBlockText(words="hi"))
size: OldSize = "small"


class Words(OldBlockText):
    """A subclass of a class under its old name."""


class MyAgent(Agent):
    """Handles a method whose params were renamed."""

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request: CreateRequest) -> NewResponse:
        return NewResponse(session_id=request.cwd)


class MyClient(Client):
    async def session_update(self, notification: UpdateNotification) -> None:
        raise NotImplementedError


async def converse() -> None:
    async with connect_in_process(lambda client: MyAgent(), lambda agent: MyClient()) as agent:
        await agent.initialize(protocol_version=1)
        assert await agent.session_new(cwd="/a") == await agent.request(CreateRequest(cwd="/a"))


asyncio.run(converse())


if TYPE_CHECKING:  # mistakes
    OldBlockText(text="hi")  # type: ignore
    print(v1.OldNothing)  # type: ignore
