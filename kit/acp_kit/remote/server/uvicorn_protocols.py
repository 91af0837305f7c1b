"""Uvicorn's protocols with limits from the first byte on, which end when the server shuts down.

Only this file uses undocumented parts of uvicorn and websockets. pyproject.toml has the versions for which
`tests/kit/remote/server/test_uvicorn_protocols.py` passes.
"""

# ruff: noqa: D102 (methods without a docstring override those of uvicorn)
from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from acp_kit.remote.reading import SmallReads
from acp_kit.remote.server.account import Account

_KEY = "acp_kit.remote"
_STALLED_SECONDS = 10.0  # how long a request may take, and how long a client may not read a response
_LAST_SECONDS = 1.0  # for the last bytes, when a connection is closed
_EVENT_OVERHEAD = 500  # bytes of memory for a queued message besides its own


def protocol_of(scope: Mapping[str, Any]) -> Any:
    """Return the `HTTP` or the `WebSockets` that a request came on; None if another server runs the application."""
    return scope.get("state", {}).get(_KEY)


def text_of(event: Mapping[str, Any]) -> bytes:
    """Return the text of a WebSocket's event; empty if it is binary."""
    text: str | bytes = event.get(_KEY) or event.get("text") or b""
    return text if isinstance(text, bytes) else text.encode()


def _head(size: int) -> bytes:
    """Return the head of an uncompressed text frame. Ten times as fast as websockets."""
    if size < 126:
        return b"\x81%c" % size
    return b"\x81\x7e" + size.to_bytes(2, "big") if size < 65536 else b"\x81\x7f" + size.to_bytes(8, "big")


class _Ending:
    """The common part of both protocols.

    Attributes:
        on_shutdown: called when the server shuts down, to end the connection or the response.
        on_left: called when the server shuts down or the client disconnects, to end the work before the response.
    """

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    app_state: dict[str, Any]
    on_shutdown: Callable[[], object] | None = None
    on_left: Callable[[], object] | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        transport.set_write_buffer_limits(1)  # `drain` waits until all is sent; with TLS and 0, asyncio waits forever
        self.app_state = {**self.app_state, _KEY: self}

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)  # type: ignore[misc]
        if self.on_left is not None:
            self.on_left()
        self.forget()

    def shutdown(self) -> None:
        if self.on_shutdown is not None:
            self.on_shutdown()
        else:
            super().shutdown()  # type: ignore[misc]
        if self.on_left is not None:
            self.on_left()
        self.abort_soon()

    def abort_soon(self) -> None:
        """Close the TCP connection after a second, even if the client hasn't read the last bytes."""
        self.loop.call_later(_LAST_SECONDS, self.transport.abort)

    def forget(self) -> None:
        """Free the objects that refer to this one."""
        self.app_state, self.on_shutdown, self.on_left = {}, None, None


class HTTP(_Ending, H11Protocol, SmallReads):
    """Serves HTTP/1.1: the value of uvicorn's option `http`."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._check_later()

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # uvicorn can't refuse an invalid request during the response to another one
            self.transport.abort()

    def on_response_complete(self) -> None:
        self.on_shutdown = None
        self.cycle.body.clear()  # it isn't needed any more
        super().on_response_complete()

    def _check_later(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        self._watch = self.loop.call_later(_STALLED_SECONDS, self._check, self.cycle, unsent)

    def _check(self, cycle: Any, unsent: int) -> None:
        """Abort the connection if the client does nothing, to free its buffered bytes."""
        is_within_request = self.conn.their_state is not h11.IDLE or self.conn.trailing_data[0]
        sends_nothing = cycle is self.cycle and (cycle is None or (cycle.response_complete and is_within_request))
        is_stream = self.on_shutdown is not None  # streams have their own time limit
        reads_nothing = 0 < unsent <= self.transport.get_write_buffer_size() and not is_stream
        if sends_nothing or reads_nothing:
            self.transport.abort()
        else:
            self._check_later()

    def handle_websocket_upgrade(self, event: Any) -> None:
        super().handle_websocket_upgrade(event)
        self.forget()

    def forget(self) -> None:
        super().forget()
        self._watch.cancel()


class WebSockets(_Ending, WebSocketsSansIOProtocol, SmallReads):
    """Serves WebSockets: the value of uvicorn's option `ws`.

    Attributes:
        account: counts buffered bytes; None until the application has the WebSocket.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.account: Account | None = None
        self._message = bytearray()  # the fragments of an incomplete message
        self._is_text = False
        self._queued = 0

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.account is not None:
            self.account.close()

    def abort(self) -> None:
        """Close the TCP connection immediately, and free received bytes."""
        self.transport.abort()
        self.conn.reader.discard()
        self._message.clear()

    def limit(self, message_bytes: int) -> None:
        """Close the WebSocket if a decompressed message is larger than this."""
        self.conn.max_message_size = message_bytes

    async def write(self, lines: list[bytes], seconds: float) -> None:
        """Send messages.

        Raises:
            TimeoutError: if the client reads nothing for `seconds`.
        """
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ConnectionError("The WebSocket is closed.")
        if self.conn.extensions:
            for line in lines:
                self.conn.send_text(line)
            self.transport.write(b"".join(self.conn.data_to_send()))
        else:
            self.transport.write(b"".join([part for line in lines for part in (_head(len(line)), line)]))
        while not self.writable.is_set():
            unsent = self.transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(seconds):
                    await self.writable.wait()
            except TimeoutError:
                if self.transport.get_write_buffer_size() >= unsent:
                    raise

    async def send(self, message: Any) -> None:
        await super().send(message)
        self.handshake_complete |= self.close_sent  # otherwise, uvicorn logs an error for a refused handshake
        if message["type"] == "websocket.accept":
            del self.request, self.response  # a twentieth of the memory of a connection

    async def receive(self) -> Any:
        event: Any = await super().receive()
        if _KEY in event:
            self._queued -= len(event[_KEY]) + _EVENT_OVERHEAD
        self._count()
        return event

    def data_received(self, data: bytes) -> None:
        if self.handshake_initiated and not self.handshake_complete:
            self.transport.abort()  # the client didn't wait for the response
            return
        super().data_received(data)
        if not self.handshake_initiated:  # websockets can't parse a request that h11 accepts
            self.transport.abort()
        self._count()

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()  # drops the pong, because the client doesn't read

    def handle_cont(self, event: Frame) -> None:
        if event.opcode is not Opcode.CONT:
            self._is_text = event.opcode is Opcode.TEXT
        data, event.data = event.data, b""  # websockets keeps the last frame
        if self._message or not event.fin:
            self._message += data
        if event.fin:
            message, self._message = bytes(self._message or data), bytearray()
            if message and self._is_text and not self.close_sent:
                self._put(message)

    handle_text = handle_bytes = handle_cont

    def handle_parser_exception(self) -> None:
        if self.close_sent:
            return  # the rest of the message is dropped
        assert self.conn.close_sent is not None
        if self.conn.parser_exc is not None:
            self.conn.parser_exc.__traceback__ = None  # it refers to the decompressed message
        self._message.clear()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": self.conn.close_sent.code})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        # If TCP was closed while the client sends, the code would be lost.
        self.close_timer = self.loop.call_later(_LAST_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        if self.read_paused:  # the pong may come after unread bytes
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()
        else:
            super().keepalive_timeout()
            self.abort_soon()

    def _put(self, message: bytes) -> None:
        self._queued += len(message) + _EVENT_OVERHEAD
        event: Any = {"type": "websocket.receive", "bytes": b"", _KEY: message}
        self.queue.put_nowait(event)
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _count(self) -> None:
        if self.account is not None:
            self.account.set("frames", len(self.conn.reader.buffer) + len(self._message) + self._queued)
