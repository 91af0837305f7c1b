"""The ASGI application that serves an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from functools import partial
from logging import ERROR, getLogger
from typing import Any, TypeVar

from acp_kit.common.sequences import check_sequence
from acp_kit.remote.server.account import Accounts
from acp_kit.remote.server.admission import LOOPBACK, Admission, preflight
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections
from acp_kit.remote.server.http_endpoint import HTTPEndpoint
from acp_kit.remote.server.requests import HTTPRequest, Receive, Refused, Response, Scope, Send, refusal
from acp_kit.remote.server.websocket import WebSocketEndpoint
from acp_runtime.logs import log
from acp_runtime.transports import Transport

Identity = TypeVar("Identity")
SERVED_APPS = "acp_kit.remote.served_apps"  # the key of a set in the scope, for the applications that were called
_BOUNDS = Bounds()
_CLOSE_SECONDS = 1.0
_logger = getLogger(__name__)


class AgentApp:
    """An ASGI application that serves an agent. `agent_app` makes it.

    Attributes:
        bounds: limits on what clients may use.
        serves_everybody: whether other machines may connect: it has `authenticate`, or `anonymous` is True.
    """

    def __init__(
        self,
        serve: Callable[[Transport, Any], Awaitable[None]],
        admission: Admission,
        accounts: Accounts,
        path: str,
        bounds: Bounds,
    ) -> None:
        self.bounds = bounds
        self.serves_everybody = admission.serves_everybody
        self._path = path
        self._admission = admission
        self._connections = Connections(serve, bounds.connections)
        self._http = HTTPEndpoint(self._connections, admission, bounds, accounts)
        self._websocket = WebSocketEndpoint(self._connections, admission, bounds, accounts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as an ASGI application."""
        if scope["type"] == "lifespan":
            return await self._run_lifespan(receive, send)
        scope.get(SERVED_APPS, set[AgentApp]()).add(self)
        request = HTTPRequest(scope)
        if request.is_websocket:
            await receive()  # that the client wants to connect
        try:
            self._admission.check(request)
            if (headers := preflight(request)) is not None:
                return await Response(200, headers).send(request, send)
            if request.path != self._path:
                await self._admission.authenticate(request)
                raise Refused(404, "There is no agent at this path.")
            serve = self._websocket if request.is_websocket else self._http
            await serve(request, receive, send)
        except Exception as error:
            await refusal(_make_refusal(error)).send(request, partial(_send_and_drop_body, receive, send))
            if request.is_websocket:
                await _wait_until_closed(receive)

    async def close(self) -> None:
        """End all connections, and wait until their agents have ended. New ones are refused."""
        self._admission.close()
        await self._connections.close()
        await self._http.close()

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        while (event := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{event['type']}.complete"})
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


def agent_app(
    serve: Callable[[Transport, Identity], Awaitable[None]],
    *,
    authenticate: Callable[[HTTPRequest], Awaitable[Identity]] | Callable[[HTTPRequest], Identity] | None = None,
    anonymous: bool = False,
    path: str = "/acp",
    hosts: Collection[str] = LOOPBACK,
    origins: Collection[str] = (),
    bounds: Bounds = _BOUNDS,
) -> AgentApp:
    """Return an ASGI application that serves an agent over WebSocket and over HTTP, at one path.

    `acp_kit.remote.run` runs it on uvicorn. On another ASGI server, set the limit on WebSocket messages to
    `bounds.message_bytes`.

    Args:
        serve: serves the agent to one client over a transport, until the client ends the connection. It gets the
            identity that `authenticate` returned, or None:
            `lambda transport, identity: v1.serve(partial(MyAgent, identity), transport)`.
        authenticate: returns the identity of a request's sender, for example by its headers, or raises `Refused` or
            another exception with a `status_code`, such as Starlette's HTTPException. It is called for each request. A
            connection belongs to the identity that opened it; others, compared by `==`, get 404. One identity may have
            half of `bounds.connections`. It is cancelled after `bounds.first_seconds`, or when the server stops. A
            function that isn't async must not block.
        anonymous: whether requests that arrive at another address than loopback are served without `authenticate`.
        path: the path of the URL.
        hosts: the names that clients use for this server, without ports; IPv6 addresses in brackets. Requests to other
            names get 403, which prevents DNS rebinding.
        origins: the web sites, such as `https://example.org`, whose pages may use the agent, besides those on the same
            host. Pages of other sites get 403. Programs that aren't browsers send no `Origin`.
        bounds: limits on what clients may use.

    Raises:
        ValueError: if a host or origin can't match anything.
    """
    accounts = Accounts(bounds)
    admission = Admission(
        check_sequence("hosts", hosts),
        check_sequence("origins", origins),
        authenticate,
        anonymous=anonymous,
        seconds=bounds.first_seconds,
        accounts=accounts,
    )
    return AgentApp(serve, admission, accounts, path, bounds)


async def _send_and_drop_body(receive: Receive, send: Send, event: MutableMapping[str, Any]) -> None:
    """Send an event of a refusal. Take what the server has buffered of the body, so that it doesn't keep it.

    That is done after the status was sent: before, a client that waits for 100 Continue would be asked for the body.
    """
    await send(event)
    if event["type"] == "http.response.start":
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await receive()


async def _wait_until_closed(receive: Receive) -> None:
    """Wait until uvicorn has closed a refused WebSocket. It logs an error if the application ends earlier."""
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await receive()  # says that it is refused
            await receive()  # says that it is closed


def _make_refusal(error: Exception) -> Refused:
    """Return the response to an exception, which `authenticate` may have raised."""
    if isinstance(error, Refused):
        return error
    status: object = getattr(error, "status_code", None)
    if isinstance(status, int):
        return Refused(status, str(getattr(error, "detail", error)), headers=getattr(error, "headers", None))
    log(_logger, ERROR, "A request has failed.", error=error)
    return Refused(500, "The request has failed.", -32603)
