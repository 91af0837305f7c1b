"""The ASGI application that serves an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import Route, WebSocketRoute

from acp_kit.common.sequences import check_sequence
from acp_kit.remote.server.account import Accounts
from acp_kit.remote.server.admission import LOOPBACK, Admission, refuse
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections
from acp_kit.remote.server.http_endpoint import HTTPEndpoint
from acp_kit.remote.server.websocket import WebSocketEndpoint
from acp_runtime.transports import Transport

Identity = TypeVar("Identity")
_BOUNDS = Bounds()


def agent_app(
    serve: Callable[[Transport, Identity], Awaitable[None]],
    *,
    authenticate: Callable[[HTTPConnection], Awaitable[Identity]] | Callable[[HTTPConnection], Identity] | None = None,
    path: str = "/acp",
    hosts: Collection[str] = LOOPBACK,
    origins: Collection[str] = (),
    bounds: Bounds = _BOUNDS,
) -> Starlette:
    """Return an ASGI application that serves an agent over WebSocket and over HTTP, at one path.

    `acp_kit.remote.run` runs it on uvicorn. Other ASGI servers can run it, too, but the bytes that they buffer don't
    count. Set their limit on a WebSocket's message to `bounds.message_bytes` or more.

    Args:
        serve: serves the agent to one client over a transport, until the client ends the connection. It gets the
            identity that `authenticate` returned, or None:
            `lambda transport, identity: v1.serve(partial(MyAgent, identity), transport)`.
        authenticate: returns the identity of a request's sender, for example by its headers, or raises starlette's
            HTTPException. It is called for each request. A connection belongs to the identity that opened it; others,
            compared by `==`, get 404. It is cancelled after `bounds.first_seconds`, and with `run` also when the client
            disconnects or the server stops. A function that isn't async must not block.
        path: the path of the URL.
        hosts: the names that clients use for this server, without ports; IPv6 addresses in brackets. Requests to other
            names get 403. So a web site can't reach the server by giving its own name this server's address.
        origins: the web sites, such as `https://example.org`, whose pages may use the agent, besides those on the same
            host. Pages of other sites get 403. Programs that aren't browsers send no `Origin`.
        bounds: limits on what clients may use.

    Raises:
        ValueError: if a host or origin can't match anything.
    """
    names, sites = check_sequence("hosts", hosts), check_sequence("origins", origins)
    admission = Admission(names, sites, authenticate, bounds.first_seconds)
    connections = Connections(serve, bounds.connections)
    accounts = Accounts(bounds)
    websocket = WebSocketEndpoint(connections, admission, bounds, accounts)
    http = HTTPEndpoint(connections, admission, bounds, accounts)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await connections.close()

    routes = [WebSocketRoute(path, websocket), Route(path, http)]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: refuse})
