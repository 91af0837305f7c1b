"""Mistakes with several versions of the protocol."""

from __future__ import annotations

from typing import assert_never

import acp_bindings
from acp_bindings import v1, v2_draft
from acp_runtime.transports import Transport


class NoEnd:
    async def receive(self) -> bytes:
        return b""

    async def send(self, data: bytes, /) -> None:
        print(data)


class Text(NoEnd):
    async def receive(self) -> str:  # type: ignore
        return ""

    async def close(self) -> None:
        print("closed")


async def initialize(agent: v1.RemoteAgent) -> None:
    await agent.initialize(protocol_version=1)


async def serving(one: type[v1.Agent], two: type[v2_draft.Agent], transport: Transport) -> None:
    await acp_bindings.serve_stdio(one)  # type: ignore
    await acp_bindings.serve_stdio(v1=two)  # type: ignore
    await acp_bindings.serve_stdio(v3=one)  # type: ignore
    await acp_bindings.serve(v1=one)  # type: ignore
    await acp_bindings.serve(NoEnd(), v1=lambda _: one())  # type: ignore
    await acp_bindings.serve(Text(), v1=lambda _: one())  # type: ignore
    await v1.serve(transport, lambda _: one())  # type: ignore


async def offering(one: type[v1.Client], two: type[v2_draft.Client], transport: Transport) -> None:
    acp_bindings.spawn_agent("agent")  # type: ignore
    acp_bindings.spawn_agent(v1=(lambda _: one(), initialize))  # type: ignore
    acp_bindings.spawn_agent("agent", v1=lambda _: one())  # type: ignore
    acp_bindings.spawn_agent("agent", v2_draft=(lambda _: two(), initialize))  # type: ignore
    acp_bindings.spawn_agent("agent", v1=(lambda _: one(), lambda agent: agent.initialise()))  # type: ignore
    acp_bindings.connect(transport, v1=(lambda _: one(), initialize))  # type: ignore


async def missing(agent: v1.RemoteAgent | v2_draft.RemoteAgent) -> str:  # type: ignore
    match agent:  # pyright: ignore
        case v1.RemoteAgent():
            return "1"


async def wrong(agent: v1.RemoteAgent | v2_draft.RemoteAgent) -> None:
    match agent:
        case v1.RemoteAgent():
            await agent.session_new(cwd="/")  # type: ignore
        case _:
            assert_never(agent)  # type: ignore
