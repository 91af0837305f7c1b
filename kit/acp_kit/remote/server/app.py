"""The ASGI application that serves an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from secrets import token_urlsafe
from typing import TypeVar

from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.websocket import WebSocketTransport
from acp_runtime.transports import Transport

Identity = TypeVar("Identity")
CONNECTION_ID = "Acp-Connection-Id"


def agent_app(
    serve: Callable[[Transport, Identity], Awaitable[None]],
    *,
    authenticate: Callable[[HTTPConnection], Awaitable[Identity]],
    path: str = "/acp",
    bounds: Bounds = Bounds(),
) -> Starlette:
    """Return an ASGI application that serves an agent."""

    async def websocket(socket: WebSocket) -> None:
        identity = await authenticate(socket)
        await socket.accept(headers=[(CONNECTION_ID.lower().encode(), token_urlsafe(24).encode())])
        await serve(WebSocketTransport(socket, bounds), identity)

    return Starlette(routes=[WebSocketRoute(path, websocket)])
