"""The agents of the Python SDK at the other end of a network: the scripted one at `/acp`, and routers, if the SDK has
them, at the versions that they have: `/1`, `/2` and `/1,2`.

It prints its host and port, and exits when stdin is closed.
"""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import sys
from typing import Any

import uvicorn
from acp.http.asgi import create_asgi_app
from python_agent import ScriptedAgent

ENDPOINTS: dict[str, Any] = {"/acp": create_asgi_app(lambda _: ScriptedAgent())}
if importlib.util.find_spec("acp.experimental"):
    from python_versions_agent import router

    ENDPOINTS |= {f"/{each}": create_asgi_app(router(each), path=f"/{each}") for each in ("1", "2", "1,2")}


async def app(scope: Any, receive: Any, send: Any) -> None:
    await ENDPOINTS[scope["path"]](scope, receive, send)


async def main() -> None:
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="warning", ws="websockets-sansio"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print("{}:{}".format(*listening.getsockname()), flush=True)
        serving = asyncio.create_task(server.serve([listening]))
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = server.force_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(main())
