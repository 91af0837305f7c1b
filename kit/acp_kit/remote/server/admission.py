"""Decides who may send requests, by `Host`, `Origin`, the address of the server, and the application's function."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection
from inspect import isawaitable
from ipaddress import ip_address
from typing import Any

from acp_kit.remote.headers import CONNECTION_ID
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.requests import HTTPRequest, Refused

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
METHODS = "POST, GET, DELETE"


class Admission:
    """Decides about each request.

    Args:
        hosts: the names that clients use for this server, without ports. Other names are refused, because a web site
            could give its own name this server's address (DNS rebinding).
        origins: the web sites, besides those on the same host, that may send requests.
        authenticate: returns the identity of a request's sender, or raises an exception with a `status_code`. Without
            it, the identity is None.
        anonymous: whether other machines may send requests without `authenticate`.
        seconds: how long `authenticate` may take.
        accounts: count buffered bytes.

    Raises:
        ValueError: if a host or origin can't match anything.
    """

    def __init__(
        self,
        hosts: Collection[str],
        origins: Collection[str],
        authenticate: Callable[[HTTPRequest], Awaitable[Any] | Any] | None,
        *,
        anonymous: bool,
        seconds: float,
        accounts: Accounts,
    ) -> None:
        self._seconds = seconds
        self._accounts = accounts
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower() for origin in origins}
        for host in self._hosts:
            if not re.fullmatch(r"[\w.-]+|\[[\da-f:.]+\]", host):
                raise ValueError(f"{host!r} is not a host name: write it without a scheme, a port or wildcards.")
        for origin in self._origins:
            if not re.fullmatch(r"[a-z][\w+.-]*://[^\s/?#*]+|null", origin):
                raise ValueError(f"{origin!r} is not an origin: write one such as https://example.org, without a path.")
        self._authenticate = authenticate
        self.serves_everybody = authenticate is not None or anonymous
        self._authenticating = set[asyncio.Future[Any]]()
        self._is_closed = False

    def check(self, request: HTTPRequest) -> None:
        """Refuse a request to another host, or of another site's page. Add the headers that let listed pages read."""
        host = request.header("host").lower()
        origin = request.header("origin").lower()
        if _without_port(host) not in self._hosts:
            raise Refused(403, "This server doesn't serve that Host. It must be listed in `hosts`.")
        if origin in self._origins:
            request.response_headers = {
                "Access-Control-Allow-Origin": request.header("origin"),
                "Access-Control-Allow-Credentials": "true",
                "Access-Control-Expose-Headers": CONNECTION_ID,
                "Vary": "Origin",
            }
        elif origin and origin.partition("://")[2] != host:
            raise Refused(403, "This Origin may not use the server. It must be listed in `origins`.")
        if not self.serves_everybody and not is_loopback((request.scope.get("server") or ("",))[0]):
            raise Refused(403, "Other machines can reach this server: it needs `authenticate`, or `anonymous=True`.")

    async def authenticate(self, request: HTTPRequest) -> Any:
        """Return the identity of a request's sender.

        Raises:
            Exception: that `authenticate` raises.
            Refused: if it takes too long, or the server stops.
        """
        if self._is_closed:
            raise Refused(503, "The server is stopping.", headers={"Retry-After": "10"})
        identity = None if self._authenticate is None else self._authenticate(request)
        return await self._wait_for(identity, request) if isawaitable(identity) else identity

    async def _wait_for(self, identity: Awaitable[Any], request: HTTPRequest) -> Any:
        """Wait for the result of `authenticate`. Meanwhile, the beginning of the body is buffered."""
        authenticating = asyncio.ensure_future(identity)
        account = Account(self._accounts, authenticating.cancel)
        self._authenticating.add(authenticating)
        try:
            account.set(request, request.buffer_size)
            await asyncio.wait({authenticating}, timeout=self._seconds)
            if authenticating.done() and not authenticating.cancelled():
                return authenticating.result()
            raise Refused(503, "The request couldn't be authenticated in time.", headers={"Retry-After": "10"})
        finally:
            account.close()
            authenticating.cancel()
            await asyncio.wait({authenticating})
            self._authenticating.discard(authenticating)

    def close(self) -> None:
        """Refuse the requests that are being authenticated, and all further ones."""
        self._is_closed = True
        for authenticating in self._authenticating:
            authenticating.cancel()


def preflight(request: HTTPRequest) -> dict[str, str] | None:
    """Return the headers that tell a browser what a listed page may send; None if it doesn't ask for that."""
    asks = request.method == "OPTIONS" and request.header("access-control-request-method")
    if not asks or not request.response_headers:
        return None
    return {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": request.header("access-control-request-headers"),
        "Access-Control-Max-Age": "600",
    }


def is_loopback(address: str) -> bool:
    """Whether only this machine can connect to an address; true for the path of a socket."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address in ("localhost", "") or "/" in address


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
