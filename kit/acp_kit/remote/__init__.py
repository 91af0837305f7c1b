"""Agents at the other end of a network: over WebSocket, and over HTTP. It needs the extra `remote`.

An agent is an ASGI application, which any ASGI server serves:

    async def serve(transport: Transport, _: None) -> None:
        await v1.serve(MyAgent, transport)

    app = agent_app(serve)

A client opens a transport to it, and connects:

    async with v1.connect(MyClient, await open_transport("wss://agents.example.org/acp")) as agent:
        await agent.initialize(protocol_version=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_kit.remote.client.opening import open_transport as open_transport
    from acp_kit.remote.server.app import agent_app as agent_app
    from acp_kit.remote.server.bounds import Bounds as Bounds
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "client.opening": ("open_transport",),
            "server.app": ("agent_app",),
            "server.bounds": ("Bounds",),
        },
        {
            "agent_app": ("remote", "starlette"),
            "open_transport": ("remote", "httpx2", "websockets"),
        },
    )
