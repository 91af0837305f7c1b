"""A transport over WebSocket, for clients.

Messages aren't compressed: permessage-deflate takes four times the memory for each connection (measured: 55 instead of
13 kB at each end), and each message takes half as long again.
"""

from __future__ import annotations

from collections.abc import Mapping
from http.cookiejar import CookieJar
from ssl import SSLContext
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidProxy, InvalidStatus, InvalidURI, WebSocketException

from acp_kit.remote.client.requests import shortened, without_secrets

_PING = 15.0  # seconds between pings
_PONG = 60.0  # seconds for the answer, which comes behind all messages that are not received yet
_CLOSING = 1.0  # seconds that the agent may take to close, too
_REGULAR_END = (1000, 1005)  # as it should be, or without a code


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        socket: the open WebSocket.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        """Return the message of the next text frame."""
        try:
            while not isinstance(frame := await self._socket.recv(), str):
                pass  # binary frames mean nothing
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code in _REGULAR_END:
                return b""
            raise OSError(_reason(closed)) from closed
        return frame.replace("\n", " ").encode() + b"\n"

    async def send(self, data: bytes, /) -> None:
        """Send each message in a text frame."""
        try:
            for line in data.splitlines():
                await self._socket.send(line, text=True)
        except ConnectionClosed as closed:
            raise OSError(_reason(closed)) from closed

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._socket.close()


async def open_websocket(
    url: str, headers: Mapping[str, str], ssl: SSLContext | None, cookies: CookieJar, max_message_bytes: int
) -> WebSocketTransport:
    """Open a WebSocket to an agent."""
    upgrade = httpx2.Request("GET", "http" + url.removeprefix("ws"), headers=headers)
    httpx2.Cookies(cookies).set_cookie_header(upgrade)
    cookie = {"Cookie": upgrade.headers["Cookie"]} if "Cookie" in upgrade.headers else {}
    options: dict[str, Any] = {"ssl": ssl} if ssl is not None else {}
    try:
        socket = await _Connect(
            url,
            additional_headers={**headers, **cookie},
            compression=None,
            max_size=max_message_bytes,
            ping_interval=_PING,
            ping_timeout=_PONG,
            close_timeout=_CLOSING,
            **options,
        )
    except (WebSocketException, OSError) as error:
        why = None if isinstance(error, (InvalidURI, InvalidProxy)) else error  # these show the URL
        raise OSError(f"The agent at {without_secrets(url)} can't be reached: {_fault(error)}") from why
    if socket.response is not None:
        accepted = httpx2.Response(101, headers=list(socket.response.headers.raw_items()), request=upgrade)
        httpx2.Cookies(cookies).extract_cookies(accepted)
    return WebSocketTransport(socket)


class _Connect(connect):
    """Follows no redirects: they could take the headers, which may be secret, to another server."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _fault(error: Exception) -> str:
    """Return what is wrong with a handshake, without URLs, which may contain secrets."""
    if isinstance(error, (InvalidURI, InvalidProxy)):
        return error.msg
    if isinstance(error, InvalidStatus):
        refusal = error.response
        status = f"HTTP {refusal.status_code} {refusal.reason_phrase}".strip()
        return status + shortened((refusal.body or b"").decode(errors="replace"))
    return str(error) or type(error).__name__


def _reason(closed: ConnectionClosed) -> str:
    """Return why a WebSocket has closed."""
    if closed.rcvd is None:
        return f"The WebSocket has closed: {closed}"
    return f"The agent has closed the WebSocket with code {closed.rcvd.code}" + shortened(closed.rcvd.reason)
