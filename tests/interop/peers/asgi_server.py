"""Serves an ASGI application for the peers at the other end of a network."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn


async def serve(endpoints: dict[str, Any]) -> None:
    """Serve an application at each path, until stdin is closed. Print the host and port."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await endpoints[scope["path"]](scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error", ws="websockets-sansio"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print("{}:{}".format(*listening.getsockname()), flush=True)
        serving = asyncio.create_task(server.serve([listening]))
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = server.force_exit = True
        await serving
