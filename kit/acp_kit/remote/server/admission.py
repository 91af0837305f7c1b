"""Who may send requests: by `Host`, by `Origin`, and as the application says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from inspect import isawaitable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Refused(HTTPException):
    """A request that is refused.

    Args:
        status: the HTTP status.
        message: what is wrong, and what to do.
        code: the code of the error in the body, which is an answer of JSON-RPC.
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
        hosts: the names that clients use for this server, in lower case and without ports. Others are refused: a web
            site could make a browser believe that its own name has this server's address (DNS rebinding).
        origins: the web sites, besides those on the same host, that may send requests.
        authenticate: returns who sent a request, or raises HTTPException. None: everybody is None.
    """

    def __init__(
        self,
        hosts: Collection[str],
        origins: Collection[str],
        authenticate: Callable[[HTTPConnection], Awaitable[Any] | Any] | None,
    ) -> None:
        self._hosts = hosts
        self._origins = origins
        self._authenticate = authenticate

    async def admit(self, request: HTTPConnection) -> Any:
        """Return who sent a request.

        Raises:
            HTTPException: The request is refused.
        """
        host, origin = header(request, "host"), header(request, "origin")
        if _without_port(host) not in self._hosts:
            raise Refused(403, "This server doesn't serve that Host. It has to be listed in `hosts`.")
        if origin and origin not in self._origins and origin.lower().partition("://")[2] != host.lower():
            raise Refused(403, "This Origin may not use the server. It has to be listed in `origins`.")
        if self._authenticate is None:
            return None
        identity = self._authenticate(request)
        return await identity if isawaitable(identity) else identity


def header(request: HTTPConnection, name: str) -> str:
    """Return a header that a request may have once; empty if it has none."""
    values = request.headers.getlist(name)
    if len(values) > 1:
        raise Refused(400, f"The request has more than one {name} header.")
    return values[0] if values else ""


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
