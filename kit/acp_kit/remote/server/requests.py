"""Requests of clients, as ASGI passes them, and responses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple
from wsgiref.headers import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

# The most bytes of a body that uvicorn reads before the application does: a pause after 64 KiB, and a read of 256 KiB.
_MAX_BUFFER_BYTES = 320 * 1024


class Refused(Exception):
    """A request that is refused.

    Args:
        status: the HTTP status.
        message: what is wrong, and what to do.
        code: the code of the JSON-RPC error in the body.
        headers: of the response.
    """

    def __init__(self, status: int, message: str, code: int = -32600, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})


class HTTPRequest:
    """The head of an HTTP request, or of the request that opens a WebSocket.

    Args:
        scope: the scope of ASGI.

    Attributes:
        scope: the scope of ASGI.
        response_headers: for each response to it.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.response_headers: dict[str, str] = {}

    @property
    def is_websocket(self) -> bool:
        """Whether it opens a WebSocket."""
        return bool(self.scope["type"] == "websocket")

    @property
    def method(self) -> str:
        """Its method."""
        method: str = self.scope.get("method", "GET")
        return method

    @property
    def headers(self) -> Headers:
        """Its headers. Names are case-insensitive: `request.headers.get("authorization")`."""
        headers: list[tuple[bytes, bytes]] = self.scope["headers"]
        return Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers])

    @property
    def path(self) -> str:
        """Its path, without the path that another application has mounted this one at."""
        path: str = self.scope["path"]
        root: str = self.scope.get("root_path", "").rstrip("/")
        return path.removeprefix(root) if path.startswith(root + "/") else path

    @property
    def buffer_size(self) -> int:
        """How many bytes of the body the server may buffer before the application reads them."""
        length = self.header("content-length")
        if not length and "transfer-encoding" not in self.headers:
            return 0
        return min(int(length), _MAX_BUFFER_BYTES) if length.isdecimal() else _MAX_BUFFER_BYTES

    def header(self, name: str) -> str:
        """Return a header; empty if it is missing. Refuse a request that has it more than once."""
        key = name.lower().encode()
        values = [value for other, value in self.scope["headers"] if other.lower() == key]
        if len(values) > 1:
            raise Refused(400, f"The request has more than one {name} header.")
        return values[0].decode("latin-1") if values else ""


class Response(NamedTuple):
    """A response."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""

    async def send(self, request: HTTPRequest, send: Send) -> None:
        """Send it. A WebSocket is refused with it, if the server can do that."""
        if request.is_websocket and "websocket.http.response" not in request.scope.get("extensions", {}):
            await send({"type": "websocket.close"})
            return
        kind = "websocket.http.response" if request.is_websocket else "http.response"
        headers = {**self.headers, "Content-Length": str(len(self.body))}
        start = {"type": f"{kind}.start", "status": self.status, "headers": encode_headers(request, headers)}
        await send(start)
        await send({"type": f"{kind}.body", "body": b"" if request.method == "HEAD" else self.body})


def encode_headers(request: HTTPRequest, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response to a request, for ASGI."""
    pairs = {**headers, **request.response_headers}.items()
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]


def refusal(error: Refused) -> Response:
    """Return the response to a request that is refused."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": error.code, "message": error.message}}
    headers = {"Content-Type": "application/json", **error.headers}
    return Response(error.status, headers, json.dumps(body).encode())
