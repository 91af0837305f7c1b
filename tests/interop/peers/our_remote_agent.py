"""Our agents at the other end of a network: the scripted one at `/acp`, and those of several versions at `/1`, `/2` and
`/1,2`. It prints its host and port, and exits when stdin is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asgi_server
from our_agent import ScriptedAgent
from our_versions_agent import agents

import acp_bindings
from acp_bindings import v1
from acp_kit.remote import agent_app
from acp_runtime.transports import Transport


async def serve_scripted(transport: Transport, identity: None) -> None:
    await v1.serve(ScriptedAgent, transport)


def serve_versions(versions: str) -> Callable[[Transport, Any], Awaitable[None]]:
    return lambda transport, _: acp_bindings.serve(transport, **agents(versions))


ENDPOINTS = {
    "/acp": agent_app(serve_scripted),
    **{f"/{versions}": agent_app(serve_versions(versions), path=f"/{versions}") for versions in ("1", "2", "1,2")},
}

if __name__ == "__main__":
    asyncio.run(asgi_server.serve(ENDPOINTS))
