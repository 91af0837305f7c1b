"""A transport over WebSocket, for agents, and the endpoint that accepts WebSockets."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from acp_kit.remote.headers import CONNECTION_ID
from acp_kit.remote.messages import Message, read_message
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.admission import Admission
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections
from acp_kit.remote.server.uvicorn_protocols import WebSockets, protocol_of, text_of

_NORMAL, _GOING_AWAY, _NOT_UTF_8, _POLICY, _TOO_BIG, _FAILED = 1000, 1001, 1007, 1008, 1009, 1011
_CLOSE_SECONDS = 2.0


class WebSocketTransport:
    """Sends and receives one message of JSON in each text frame.

    Args:
        socket: the accepted WebSocket.
        bounds: limits on what the client may use.
        account: counts buffered bytes.

    Attributes:
        asked: done when the client has sent `initialize`.
        initialized: done when the agent has answered it.
    """

    def __init__(self, socket: WebSocket, bounds: Bounds, account: Account) -> None:
        self._socket = socket
        self._uvicorn: WebSockets | None = protocol_of(socket.scope)
        self._bounds = bounds
        self._account = account
        self.watch_buffered = account.watch
        self._initialize_id: str | None = None
        self._set_limit(bounds.first_bytes)
        self.asked, self.initialized = asyncio.Future[None](), asyncio.Future[None]()

    async def receive(self) -> bytes:
        """Return the next message of the client."""
        self._account.end_hand_over()
        text = b""
        while not text and (event := await self._socket.receive())["type"] != "websocket.disconnect":
            text = text_of(event)  # empty for binary frames, which are ignored
        if len(text) > self._max_bytes:
            return await self.close_with(_TOO_BIG)
        try:
            if not text.isascii():
                text.decode()
            if not self.initialized.done():
                self._note_initialize(read_message(text))
        except UnicodeDecodeError:
            return await self.close_with(_NOT_UTF_8)
        except ValueError:
            pass  # the agent answers it
        return text and self._account.hand_over(text.replace(b"\n", b" ") + b"\n")

    async def send(self, data: bytes, /) -> None:
        """Send messages.

        Raises:
            TimeoutError: if the client doesn't read.
        """
        lines = data.splitlines()
        seconds = self._bounds.unread_seconds
        if self.asked.done() and not self.initialized.done():
            for line in lines:
                self._note_initialize(read_message(line))
        self._account.set("sent", len(data))
        if self._uvicorn is not None:
            await self._uvicorn.write(lines, seconds)
        else:
            for line in lines:
                async with asyncio.timeout(seconds):
                    await self._socket.send_text(line.decode())
        self._account.set("sent", 0)

    async def close(self) -> None:
        """Do nothing. The endpoint closes the WebSocket with the right code."""

    async def close_with(self, code: int) -> bytes:
        """Close the WebSocket with a code, unless it is closed. Return the end of the stream."""
        if self._socket.client_state is self._socket.application_state is WebSocketState.CONNECTED:
            await self._socket.close(code)
        return b""

    def _note_initialize(self, message: Message) -> None:
        """Note `initialize` and its response. After it, the client may send larger messages."""
        if message.method == "initialize" and message.id is not None:
            self._initialize_id = message.id
            if not self.asked.done():
                self.asked.set_result(None)
        elif message.method is None and message.id == self._initialize_id and not message.is_error:
            self.initialized.set_result(None)
            self._account.initialize()
            self._set_limit(self._bounds.message_bytes)

    def _set_limit(self, message_bytes: int) -> None:
        self._max_bytes = min(message_bytes, self._bounds.message_bytes)
        if self._uvicorn is not None:
            self._uvicorn.limit(self._max_bytes)


class WebSocketEndpoint:
    """Accepts WebSockets, as an ASGI application.

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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the agent over a WebSocket until it is closed."""
        socket, uvicorn = WebSocket(scope, receive, send), protocol_of(scope)
        task: asyncio.Task[bool] | None = None

        def abort() -> None:
            if uvicorn is not None:
                uvicorn.abort()
            if task is not None:
                task.cancel()

        with self._connections.place() as place:
            account = Account(self._accounts, abort)
            if uvicorn is not None:
                uvicorn.account = account
            try:
                identity = await self._admission.admit(socket)
                await socket.accept(headers=[(CONNECTION_ID.lower().encode(), token_urlsafe(24).encode())])
                transport = WebSocketTransport(socket, self._bounds, account)
                task = self._connections.start(place, transport, identity)
                if uvicorn is not None:
                    uvicorn.on_shutdown = task.cancel
                code = await self._wait_for_end(task, transport)
                with suppress(TimeoutError, WebSocketDisconnect):
                    async with asyncio.timeout(_CLOSE_SECONDS):
                        await transport.close_with(code)
            finally:
                if task is not None:
                    task.cancel()
                if uvicorn is not None:
                    uvicorn.abort_soon()
                else:
                    account.close()

    async def _wait_for_end(self, task: asyncio.Task[bool], transport: WebSocketTransport) -> int:
        """Wait until the agent has ended, and return the close code. End it if `initialize` takes too long."""
        steps = ((transport.asked, self._bounds.first_seconds), (transport.initialized, self._bounds.idle_seconds))
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
