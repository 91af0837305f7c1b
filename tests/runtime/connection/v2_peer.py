"""A raw client of our agent, and a raw agent of our client, in version 2."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from acp_bindings import v2_draft as v2
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from tests.support.runtime.any_profile import agent_of
from tests.support.runtime.peer import Link, Peer, calling, serving

INITIALIZE_V2 = {"protocolVersion": 2, "info": {"name": "c", "version": "1"}}

AgentV2: Any = agent_of(v2)


class ClientV2(v2.Client):
    """A client that records updates."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.updates: list[Any] = []

    async def session_update(self, notification: Any, /) -> None:
        self.updates.append(notification)

    async def session_request_permission(self, request: Any, /) -> Any:
        return v2.RequestPermissionResponse(outcome=v2.RequestPermissionOutcomeSelected(option_id="o"))


@asynccontextmanager
async def serving_v2(
    link: Link, factory: Callable[[Any], Any] = AgentV2, *, ready: bool = True, **options: Any
) -> AsyncIterator[Peer]:
    """Connect our agent with a raw client. Yield the raw client."""
    async with serving(link, factory, ready=False, side=AGENT_SIDE, **options) as peer:
        if ready:
            await peer.call("initialize", INITIALIZE_V2)
        yield peer


@asynccontextmanager
async def calling_v2(
    link: Link,
    factory: Callable[[Any], Any] = ClientV2,
    profile: str = "v2_draft",
    *,
    guards: str = "off",
    **options: Any,
) -> AsyncIterator[tuple[Any, Peer]]:
    """Connect our client with a raw agent, which isn't initialized. Yield the proxy and the raw agent."""
    side = import_module(f"acp_bindings.{profile}.connecting").CLIENT_SIDE
    async with calling(link, factory, ready=False, side=side, guards=guards, **options) as (agent, peer):
        yield agent, peer


def permission(id: Any, session: str = "s1") -> dict[str, Any]:
    """Return a `session/request_permission`."""
    options = [{"optionId": "o", "name": "n", "kind": "allow_once"}]
    params = {"sessionId": session, "title": "t", "options": options}
    return {"id": id, "method": "session/request_permission", "params": params}
