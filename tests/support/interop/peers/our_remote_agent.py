"""Our agents at the other end of a network: the scripted one at `/acp`, and those of several versions at `/1`, `/2` and
`/1,2`. It prints its host and port, and exits when stdin is closed.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config
from our_agent import ScriptedAgent
from our_versions_agent import agents

import acp_bindings
from acp_bindings import v1
from acp_kit.remote import agent_app
from acp_runtime.transports import Transport


def endpoint(path: str, start: Callable[[Transport], Awaitable[None]]) -> Any:
    return agent_app(lambda transport, _: start(transport), path=path)


def versions(served: str) -> Callable[[Transport], Awaitable[None]]:
    return lambda transport: acp_bindings.serve(transport, **agents(served))


ENDPOINTS = {
    "/acp": endpoint("/acp", lambda transport: v1.serve(ScriptedAgent, transport)),
    **{f"/{each}": endpoint(f"/{each}", versions(each)) for each in ("1", "2", "1,2")},
}


async def app(scope: Any, receive: Any, send: Any) -> None:
    await ENDPOINTS["/acp" if scope["type"] == "lifespan" else scope["path"]](scope, receive, send)


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print("{}:{}".format(*listening.getsockname()), flush=True)
    config = Config()
    config.bind, config.loglevel, config.graceful_timeout = [f"fd://{listening.detach()}"], "WARNING", 0
    await serve(app, config, shutdown_trigger=lambda: asyncio.to_thread(sys.stdin.read))


if __name__ == "__main__":
    asyncio.run(main())
