"""Decides who may send requests, by `Host`, `Origin` and the application's function."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection
from inspect import isawaitable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from acp_kit.remote.server.uvicorn_protocols import protocol_of

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Refused(HTTPException):
    """A request that is refused.

    Args:
        status: the HTTP status.
        message: what is wrong, and what to do.
        code: the code of the JSON-RPC error in the body.
    """

    def __init__(self, status: int, message: str, code: int = -32600, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.code = code


async def refuse(_: Request, error: Exception) -> Response:
    """Return the response to a request that is refused."""
    assert isinstance(error, HTTPException)
    code = error.code if isinstance(error, Refused) else -32600
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": error.detail}}
    return JSONResponse(body, error.status_code, error.headers)


class Admission:
    """Decides about each request.

    Args:
        hosts: the names that clients use for this server, without ports. Other names are refused, because a web site
            could give its own name this server's address (DNS rebinding).
        origins: the web sites, besides those on the same host, that may send requests.
        authenticate: returns the identity of a request's sender, or raises HTTPException. Without it, the identity is
            None.
        seconds: how long it may take.

    Raises:
        ValueError: if a host or origin can't match anything.
    """

    def __init__(
        self,
        hosts: Collection[str],
        origins: Collection[str],
        authenticate: Callable[[HTTPConnection], Awaitable[Any] | Any] | None,
        seconds: float,
    ) -> None:
        self._seconds = seconds
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower() for origin in origins}
        for host in self._hosts:
            if not re.fullmatch(r"[\w.-]+|\[[\da-f:.]+\]", host):
                raise ValueError(f"{host!r} is not a host name: write it without a scheme, a port or wildcards.")
        for origin in self._origins:
            if not re.fullmatch(r"[a-z][\w+.-]*://[^\s/?#*]+|null", origin):
                raise ValueError(f"{origin!r} is not an origin: write one such as https://example.org, without a path.")
        self._authenticate = authenticate

    async def admit(self, request: HTTPConnection) -> Any:
        """Return the identity of a request's sender.

        Args:
            request: the request, of which the headers are read.

        Raises:
            HTTPException: if the request is refused.
        """
        host, origin = header(request, "host").lower(), header(request, "origin").lower()
        if _without_port(host) not in self._hosts:
            raise Refused(403, "This server doesn't serve that Host. It must be listed in `hosts`.")
        if origin and origin not in self._origins and origin.partition("://")[2] != host:
            raise Refused(403, "This Origin may not use the server. It must be listed in `origins`.")
        if self._authenticate is None:
            return None
        identity = self._authenticate(request)
        return await self._wait_for(identity, protocol_of(request.scope)) if isawaitable(identity) else identity

    async def _wait_for(self, identity: Awaitable[Any], uvicorn: Any) -> Any:
        """Wait for the result of `authenticate`. Cancel it if it takes too long, or if the client disconnects."""
        answering = asyncio.ensure_future(identity)
        if uvicorn is not None:
            uvicorn.on_left = answering.cancel
        try:
            await asyncio.wait({answering}, timeout=self._seconds)
            if answering.done() and not answering.cancelled():
                return answering.result()
            raise Refused(503, "The request couldn't be authenticated in time.", headers={"Retry-After": "10"})
        finally:
            answering.cancel()
            await asyncio.wait({answering})


def header(request: HTTPConnection, name: str) -> str:
    """Return a header; empty if it is missing. Refuse a request that has it more than once."""
    values = request.headers.getlist(name)
    if len(values) > 1:
        raise Refused(400, f"The request has more than one {name} header.")
    return values[0] if values else ""


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
