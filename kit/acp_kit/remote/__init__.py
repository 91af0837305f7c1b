"""Agents and clients on different machines, over WebSocket or HTTP. It needs the extra `remote`.

`agent_app` makes an ASGI application of an agent, which `run` serves on uvicorn:

    async def serve(transport: Transport, _: None) -> None:
        await v1.serve(MyAgent, transport)

    run(agent_app(serve), port=8000)

A client opens a transport to it, and connects:

    async with v1.connect(MyClient, await open_transport("wss://agents.example.org/acp")) as agent:
        await agent.initialize(protocol_version=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.remote.client.opening import open_transport as open_transport
    from acp_kit.remote.server.app import AgentApp as AgentApp, agent_app as agent_app
    from acp_kit.remote.server.bounds import Bounds as Bounds
    from acp_kit.remote.server.requests import HTTPRequest as HTTPRequest, Refused as Refused
    from acp_kit.remote.server.running import run as run, uvicorn_config as uvicorn_config
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "client.opening": ("open_transport",),
            "server.app": ("AgentApp", "agent_app"),
            "server.bounds": ("Bounds",),
            "server.requests": ("HTTPRequest", "Refused"),
            "server.running": ("run", "uvicorn_config"),
        },
        {
            "run": ("remote", "uvicorn"),
            "uvicorn_config": ("remote", "uvicorn"),
            "open_transport": ("remote", "httpx2", "websockets"),
        },
    )
