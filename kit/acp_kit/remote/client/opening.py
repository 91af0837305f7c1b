"""Opens a transport to an agent behind a URL."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookiejar import CookieJar
from ssl import SSLContext

import httpx2

from acp_kit.remote.client.http import HttpTransport
from acp_kit.remote.client.requests import Requests
from acp_kit.remote.client.websocket import open_websocket
from acp_kit.remote.headers import is_header_value
from acp_runtime import Options
from acp_runtime.transports import Transport

_MAX_PORT = 0xFFFF


async def open_transport(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    ssl: SSLContext | None = None,
    cookies: CookieJar | None = None,
    max_message_bytes: int = Options.max_message_bytes,
) -> Transport:
    """Open a transport to an agent: over WebSocket for `ws:` and `wss:`, over HTTP for `http:` and `https:`.

    Pass it to `connect` of a profile. Each connection needs its own transport. Over HTTP, `initialize` is the first
    request, so `initialize` raises `ConnectionClosed` if the agent can't be reached.

    Args:
        url: the address of the agent, such as `wss://agents.example.org/acp`.
        headers: the headers of each HTTP request, such as `Authorization`.
        ssl: the configuration of TLS; by default with the system's certificates.
        cookies: stores the cookies of the agent's server. Pass the same jar for the next connection, so that a load
            balancer chooses the same server. By default, cookies last as long as the connection.
        max_message_bytes: the size of the largest message that is received, in bytes.

    Raises:
        ValueError: if the URL is invalid or has another scheme, or a header can't be sent.
        ConnectionClosed: if the agent can't be reached over WebSocket, or refuses the connection.
    """
    try:
        parts = httpx2.URL(url)
    except httpx2.InvalidURL as invalid:
        raise ValueError(f"The URL is invalid: {invalid}") from None
    url = str(parts)
    scheme = parts.scheme  # in lower case
    if scheme not in ("ws", "wss", "http", "https"):
        raise ValueError(f"The URL must begin with ws:, wss:, http: or https:, not with {scheme!r}.")
    if (parts.port or 0) > _MAX_PORT:
        raise ValueError(f"The URL is invalid: {parts.port} is not a port.")
    headers = headers or {}
    for name, value in headers.items():
        if not name or not is_header_value(name) or {*name} & {*' "(),/:;<=>?@[\\]{}'}:  # RFC 9110, 5.6.2
            raise ValueError(f"{name!r} can't be the name of a header.")
        if not is_header_value(value):
            raise ValueError(f"The value of the header {name} has characters that a header can't carry.")
    jar = CookieJar() if cookies is None else cookies
    if scheme.startswith("ws"):
        return await open_websocket(url, headers, ssl, jar, max_message_bytes)
    return HttpTransport(Requests(url, headers, ssl, jar), max_message_bytes)
