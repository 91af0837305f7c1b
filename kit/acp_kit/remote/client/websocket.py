"""A transport over WebSocket, for clients.

Messages aren't compressed: with permessage-deflate, each end of a connection takes 55 kB of memory instead of 13, and
each message half as long again.
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
from acp_runtime import errors

# At DEBUG, websockets logs headers such as `Authorization`. That needs this logger's level to be set explicitly.
_logger = getLogger(__name__)
_logger.setLevel(INFO)
_PING = 15.0  # seconds between pings
_PONG = 60.0  # seconds for the pong, which comes after all messages that are not received yet
_CLOSING = 1.0  # seconds that the agent may take to close its side
_MAX_UNREAD = 4  # messages, or fragments of one, after which reading pauses; websockets adds one
_MAX_UNREAD_PONGS = 65_536  # bytes of pongs
_READ_BYTES = 8192  # at a time, so that thousands of small frames don't delay other tasks


class _Closed(asyncio.Transport):
    def abort(self) -> None:
        pass


class Connection(ClientConnection, asyncio.BufferedProtocol):
    """Reads little at a time, and counts the pongs that the agent hasn't read.

    Attributes:
        unread_pongs: the bytes of these pongs. More than 64 KiB end the connection.
    """

    unread_pongs = 0

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for the next bytes. With TLS, asyncio writes into slices, which must not be copies."""
        self._buffer = memoryview(bytearray(_READ_BYTES))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle received bytes."""
        data = bytes(self._buffer[:nbytes])
        del self._buffer
        before = self.transport.get_write_buffer_size()
        super().data_received(data)
        after = self.transport.get_write_buffer_size()
        self.unread_pongs = self.unread_pongs + after - before if after else 0
        if self.unread_pongs > _MAX_UNREAD_PONGS:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end. websockets aborts the transport later, which may fail in Python 3.11."""
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
                pass  # binary frames are ignored
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code in (1000, 1005):  # a normal end, or no code
                return b""
            raise self._explain_loss(closed) from None  # the text of `closed` may not be printable
        return check_memory(frame.replace("\n", " ").encode() + b"\n")

    async def send(self, data: bytes, /) -> None:
        """Send each message in a text frame."""
        try:
            for line in data.splitlines():
                await self._socket.send(line, text=True)
        except ConnectionClosed as closed:
            raise self._explain_loss(closed) from None

    async def close(self) -> None:
        """Close the WebSocket, even if the agent doesn't read."""
        deadline = asyncio.get_running_loop().call_later(1.5 * _CLOSING, self._socket.transport.abort)
        await self._socket.close()
        deadline.cancel()

    def _explain_loss(self, closed: ConnectionClosed) -> OSError:
        """Return why the WebSocket has closed."""
        if self._socket.unread_pongs > _MAX_UNREAD_PONGS:
            return OSError("The agent sends pings, but doesn't read the pongs.")
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
        raise errors.ConnectionClosed(_explain_refusal(without_secrets(url), error)) from None
    assert isinstance(socket, Connection)
    fields = socket.response.headers.raw_items() if socket.response else ()
    received = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    httpx2.Cookies(cookies).extract_cookies(httpx2.Response(101, headers=received, request=upgrade))
    drop_unusable(cookies)
    return WebSocketTransport(socket)


class _Connect(connect):
    """Follows no redirects, which could send secret headers to another server."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _explain_refusal(url: str, error: Exception) -> str:
    """Return why a handshake failed, without URLs, which may have secrets."""
    if isinstance(error, InvalidStatus):
        response = error.response
        return refusal(f"GET {url}", response.status_code, response.reason_phrase, bytes(response.body or b""))
    return failure(url, error.msg if isinstance(error, (InvalidURI, InvalidProxy)) else error)
