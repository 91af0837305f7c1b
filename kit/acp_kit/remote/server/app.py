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

    `acp_kit.remote.run` runs it on uvicorn. Other ASGI servers can run it, too, but what they hold of a client counts
    only once it is here. Set their limit on a WebSocket's message to `bounds.message_bytes` or more.

    Args:
        serve: Serves the agent to one client over a transport, until the client ends the connection. It gets what
            `authenticate` returned: `lambda transport, identity: v1.serve(partial(MyAgent, identity), transport)`, or
            None.
        authenticate: Returns who has sent a request, from its headers for example. It raises starlette's HTTPException
            if nobody may send it. It is called for each request. A connection is only for the identity that opened it:
            another one, compared by `==`, gets 404. It is cancelled after `bounds.first_seconds`, and with `run` also
            when the client has left or the server stops. A function that isn't async has to return at once.
        path: The path of the URL.
        hosts: The names that clients use for this server, without ports; an IPv6 address in brackets. Requests to other
            names get 403; that keeps web sites away that point their own name to this server's address.
        origins: The web sites, such as `https://example.org`, whose pages may use the agent, besides those on the same
            host. Pages of others get 403. Programs that aren't browsers send no `Origin`.
        bounds: How much clients may cost.

    Raises:
        ValueError: One of the hosts or origins would match nothing.
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
