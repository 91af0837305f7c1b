"""A transport over WebSocket, for agents, and the endpoint that accepts WebSockets."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

from acp_kit.remote.headers import CONNECTION_ID
from acp_kit.remote.messages import Message, read_message
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.admission import Admission
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections
from acp_kit.remote.server.requests import HTTPRequest, Receive, Send, encode_headers

_NORMAL = 1000
_GOING_AWAY = 1001
_POLICY = 1008
_TOO_BIG = 1009
_FAILED = 1011
_CLOSE_SECONDS = 2.0
_SLOWEST = 16 * 1024  # bytes a second that a client has to read of a large message


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        receive: returns the next event of the WebSocket.
        send: sends an event.
        bounds: limits on what the client may use.
        account: counts buffered bytes.

    Attributes:
        requested: done when the client has sent `initialize`.
        initialized: done when the agent has answered it.
    """

    def __init__(self, receive: Receive, send: Send, bounds: Bounds, account: Account) -> None:
        self._receive = receive
        self._send = send
        self._bounds = bounds
        self._account = account
        self._initialize_id: str | None = None
        self._max_bytes = min(bounds.first_bytes, bounds.message_bytes)
        self._is_closed = False
        self._is_aborted = False
        self._deadline: asyncio.Timeout | None = None
        self.watch_buffered = account.watch
        self.requested = asyncio.Future[None]()
        self.initialized = asyncio.Future[None]()

    async def receive(self) -> bytes:
        """Return the next message of the client."""
        self._account.end_hand_over()
        text = b""
        while not text:
            event = await self._receive()
            if event["type"] == "websocket.disconnect":
                self._is_closed = True
                return b""
            text = (event.get("text") or "").encode()  # empty for binary frames, which are ignored
        if len(text) > self._max_bytes:
            return await self.close_with(_TOO_BIG)
        if not self.initialized.done():
            with suppress(ValueError):  # the agent answers it
                self._note_request(read_message(text))
        return self._account.hand_over(text.replace(b"\n", b" ") + b"\n")

    async def send(self, data: bytes, /) -> None:
        """Send messages.

        Raises:
            TimeoutError: if the client doesn't read.
            ConnectionError: if the connection was aborted.
        """
        lines = data.splitlines()
        if self.requested.done() and not self.initialized.done():
            for line in lines:
                self._note_response(read_message(line))
        self._account.set("sent", len(data))
        if self._is_aborted:
            raise ConnectionError("The connection was aborted.")
        try:
            async with asyncio.timeout(self._bounds.unread_seconds + len(data) / _SLOWEST) as self._deadline:
                for line in lines:
                    await self._send({"type": "websocket.send", "text": line.decode()})
        finally:
            self._deadline = None
        self._account.set("sent", 0)

    def abort(self) -> None:
        """Send nothing more, even if the client doesn't read."""
        self._is_aborted = True
        if self._deadline is not None:
            self._deadline.reschedule(0)
            self._deadline = None

    async def close(self) -> None:
        """Do nothing. The endpoint closes the WebSocket with the right code."""

    async def close_with(self, code: int) -> bytes:
        """Close the WebSocket with a code, unless it is closed. Return the end of the stream."""
        if not self._is_closed:
            self._is_closed = True
            await self._send({"type": "websocket.close", "code": code})
        return b""

    def _note_request(self, message: Message) -> None:
        """Note that the client has sent `initialize`."""
        if message.method == "initialize" and message.id is not None:
            self._initialize_id = message.id
            if not self.requested.done():
                self.requested.set_result(None)

    def _note_response(self, message: Message) -> None:
        """Note that the agent has answered `initialize`. Now, the client may send larger messages."""
        is_response = message.method is None and message.id == self._initialize_id
        if is_response and not message.is_error and not self.initialized.done():
            self.initialized.set_result(None)
            self._account.initialize()
            self._max_bytes = self._bounds.message_bytes


class WebSocketEndpoint:
    """Accepts WebSockets.

    Args:
        connections: serve the agent.
        admission: decides who may connect.
        bounds: limits on what clients may use.
        accounts: count buffered bytes.
    """

    def __init__(self, connections: Connections, admission: Admission, bounds: Bounds, accounts: Accounts) -> None:
        self._connections = connections
        self._admission = admission
        self._bounds = bounds
        self._accounts = accounts

    async def __call__(self, request: HTTPRequest, receive: Receive, send: Send) -> None:
        """Serve the agent over a WebSocket until it is closed.

        Raises:
            Refused: if the request is refused.
        """
        with self._connections.slot() as slot:
            identity = await self._admission.authenticate(request)
            self._connections.assign(slot, identity)

            def abort() -> None:
                transport.abort()
                slot.end()

            account = Account(self._accounts, abort)
            transport = WebSocketTransport(receive, send, self._bounds, account)
            headers = {CONNECTION_ID: token_urlsafe(24)}
            task: asyncio.Task[bool] | None = None
            try:
                with suppress(OSError):  # the client has left
                    await send({"type": "websocket.accept", "headers": encode_headers(request, headers)})
                    task = self._connections.start(slot, transport)
                    code = await self._wait_for_end(task, transport)
                    async with asyncio.timeout(_CLOSE_SECONDS):
                        await transport.close_with(code)
            finally:
                if task is not None:
                    task.cancel()
                account.close()

    async def _wait_for_end(self, task: asyncio.Task[bool], transport: WebSocketTransport) -> int:
        """Wait until the agent has ended, and return the close code. End it if `initialize` takes too long."""
        steps = ((transport.requested, self._bounds.first_seconds), (transport.initialized, self._bounds.idle_seconds))
        for step, seconds in steps:
            waits: set[asyncio.Future[Any]] = {task, step}
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not step.done() and not task.done():
                task.cancel()
                await asyncio.wait({task})
                return _POLICY
        await asyncio.wait({task})  # unlike `await task`, raises nothing
        if task.cancelled():
            return _GOING_AWAY
        return _NORMAL if task.result() else _FAILED
