"""A transport over WebSocket, for clients.

Messages aren't compressed: permessage-deflate takes four times the memory for each connection (measured: 55 instead of
13 kB at each end), and each message takes half as long again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http.cookiejar import CookieJar
from logging import INFO, getLogger
from ssl import SSLContext
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidProxy, InvalidStatus, InvalidURI, WebSocketException

from acp_kit.remote.client.requests import drop_unusable, failure, refusal, shorten, without_secrets
from acp_kit.remote.messages import check_memory
from acp_kit.remote.reading import ReadsLittle
from acp_runtime import errors

# At DEBUG, websockets logs the headers, of which `Authorization` is secret. So that takes setting this logger's level.
_logger = getLogger(__name__)
_logger.setLevel(INFO)
_PING = 15.0  # seconds between pings
_PONG = 60.0  # seconds for the answer, which comes behind all messages that are not received yet
_CLOSING = 1.0  # seconds that the agent may take to close, too
_MAX_UNREAD = 4  # messages, or fragments of one, that may wait before nothing more is read; websockets adds one
_MAX_UNREAD_PONGS = 65_536  # bytes of answers to pings


class _Closed(asyncio.Transport):
    def abort(self) -> None:
        pass


class Connection(ClientConnection, ReadsLittle):
    """Counts the answers to pings that wait.

    Attributes:
        unread_pongs: how many bytes of answers to pings the agent hasn't read. Too many of them end the connection.
    """

    unread_pongs = 0

    def data_received(self, data: bytes) -> None:
        """Handle what is received."""
        before = self.transport.get_write_buffer_size()
        super().data_received(data)
        after = self.transport.get_write_buffer_size()
        self.unread_pongs = self.unread_pongs + after - before if after else 0
        if self.unread_pongs > _MAX_UNREAD_PONGS:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end. websockets aborts the transport after it, which a transport of Python 3.11 may not bear."""
        super().connection_lost(exc)
        self.transport = _Closed()


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        socket: the open WebSocket.
    """

    def __init__(self, socket: Connection) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        """Return the message of the next text frame."""
        try:
            while not isinstance(frame := await self._socket.recv(), str):
                pass  # binary frames mean nothing
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code in (1000, 1005):  # as it should be, or without a code
                return b""
            raise self._lost(closed) from None  # its text isn't printable
        return check_memory(frame.replace("\n", " ").encode() + b"\n")

    async def send(self, data: bytes, /) -> None:
        """Send each message in a text frame."""
        try:
            for line in data.splitlines():
                await self._socket.send(line, text=True)
        except ConnectionClosed as closed:
            raise self._lost(closed) from None

    async def close(self) -> None:
        """Close the WebSocket, even if the agent doesn't read what was sent."""
        deadline = asyncio.get_running_loop().call_later(1.5 * _CLOSING, self._socket.transport.abort)
        await self._socket.close()
        deadline.cancel()

    def _lost(self, closed: ConnectionClosed) -> OSError:
        """Return why the WebSocket has closed."""
        if self._socket.unread_pongs > _MAX_UNREAD_PONGS:
            return OSError("The agent sends pings, but doesn't read the answers.")
        if closed.rcvd is None:
            return OSError("The WebSocket has closed" + shorten(str(closed)))
        return OSError(f"The agent closed the WebSocket with code {closed.rcvd.code}{shorten(closed.rcvd.reason)}")


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
            max_queue=_MAX_UNREAD,
            ping_interval=_PING,
            ping_timeout=_PONG,
            close_timeout=_CLOSING,
            logger=_logger,
            create_connection=Connection,
            **options,
        )
    except (WebSocketException, OSError) as error:
        raise errors.ConnectionClosed(_why(without_secrets(url), error)) from None
    assert isinstance(socket, Connection)
    fields = socket.response.headers.raw_items() if socket.response else ()
    received = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    httpx2.Cookies(cookies).extract_cookies(httpx2.Response(101, headers=received, request=upgrade))
    drop_unusable(cookies)
    return WebSocketTransport(socket)


class _Connect(connect):
    """Follows no redirects: they could take the headers, which may be secret, to another server."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _why(place: str, error: Exception) -> str:
    """Return why a handshake failed, without URLs, which may contain secrets."""
    if isinstance(error, InvalidStatus):
        response = error.response
        return refusal(f"GET {place}", response.status_code, response.reason_phrase, bytes(response.body or b""))
    return failure(place, error.msg if isinstance(error, (InvalidURI, InvalidProxy)) else error)
