"""A transport over HTTP, for agents: messages arrive by POST, and leave on streams.

A message with a session id goes out on the stream of the session. If no client reads it, it waits there. There are two
exceptions, because some clients open this stream before they load a session, and others after it:

* While a session is loaded or resumed, its messages and the response go out on its stream if that was open at the first
  of them, otherwise on the connection's.
* Responses to prompts always go out on the session's stream. The response to `session/close` or `session/delete` does
  if that stream is open. Other responses of the session do if it is open or has unsent messages. Otherwise, they go out
  on the connection's stream.

All other messages go out on the connection's stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from acp_kit.remote.headers import MAX_ID
from acp_kit.remote.messages import ENDS_SESSION, Message, read_message
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.streams import Stream

_INITIALIZE = "initialize"
_PROMPT = "session/prompt"
_LOADS = ("session/load", "session/resume")
_CONNECTION = ""  # the key of the connection's stream
_MAX_AGENT_REQUESTS = 1024  # the agent's requests without a response, of which the session is known
_REQUEST_OVERHEAD = 500  # bytes of memory for a request without a response, besides its ids


class Answer(NamedTuple):
    """The response to `initialize`: its JSON, and whether it is an error."""

    line: bytes
    is_error: bool


class HTTPTransport:
    """One connection over HTTP. `initialize` is its first message.

    Args:
        bounds: limits on what the client may use.
        accounts: count buffered bytes.

    Attributes:
        account: counts the buffered bytes of this connection.
        on_abort: ends the agent.
        was_aborted: whether it had buffered too much.
        answer: the response to `initialize`; None if the connection ends before it.
        has_ended: whether the connection has ended.
        turn: locked by the POST whose message is next.
        posts: the number of running POSTs.
    """

    def __init__(self, bounds: Bounds, accounts: Accounts) -> None:
        self.account = Account(accounts, self._abort)
        self.watch_buffered = self.account.watch
        self.on_abort: Callable[[], object] = lambda: None
        self.was_aborted = False
        self._end_body: Callable[[], object] = lambda: None
        self._bounds = bounds
        self._received: bytes | None = None
        self._changed = asyncio.Event()
        self._streams = {_CONNECTION: Stream(self._changed.set, self.account)}
        # The session and the method of the client's requests without a response, by id.
        self._client_requests: dict[str, tuple[str, str]] = {}
        # The streams of the sessions that are being loaded; None until a message was sent.
        self._loads: dict[str, str | None] = {}
        # The sessions of the agent's requests without a response, by id.
        self._agent_requests: dict[str, str] = {}
        self._idle: asyncio.TimerHandle | None = None
        self.answer = asyncio.Future[Answer | None]()
        self.has_ended = False
        self.turn = asyncio.Lock()
        self.posts = 0

    async def receive(self) -> bytes:
        """Return the next message of the client."""
        self.account.end_hand_over()
        while self._received is None and not self.has_ended:
            await self._wait()
        line, self._received = self._received, None
        self.account.set("received", 0)
        self._changed.set()
        return b"" if self.has_ended or line is None else self.account.hand_over(line)

    async def send(self, data: bytes, /) -> None:
        """Put messages on their streams. Wait while a stream is full."""
        for line in data.splitlines():
            message = read_message(line)
            key = self._choose_stream(message)
            if key is None:
                if not message.is_error:
                    self.account.initialize()
                self.answer.set_result(Answer(line, message.is_error))
                continue
            await self._wait_for_room(key)
            self._get_stream(key).put(line)

    async def close(self) -> None:
        """End the connection."""
        self.end()

    def end(self) -> None:
        """End the connection. Unread messages can still be read from open streams."""
        self.has_ended = True
        self._changed.set()
        self._end_body()
        if not self.answer.done():
            self.answer.set_result(None)
        if self._idle is not None:
            self._idle.cancel()
        for stream in self._streams.values():
            stream.end()
        self._close_account()

    def _abort(self) -> None:
        """Abort the connection, and drop buffered messages."""
        self.was_aborted = True
        self.on_abort()
        self._received = None
        for stream in list(self._streams.values()):
            stream.abort()
        self.end()

    @contextmanager
    def reading_body(self, deadline: asyncio.Timeout) -> Generator[None]:
        """Let the end of the connection end the block, which reads the body of the next message."""

        def end_body() -> None:
            self._end_body = lambda: None
            deadline.reschedule(0)

        if self.has_ended:
            deadline.reschedule(0)
        self._end_body = end_body
        try:
            yield
        finally:
            self._end_body = lambda: None

    def session_of(self, message: Message) -> str:
        """Return the session of a message of the client; empty if it is unknown."""
        if message.method is None and message.id is not None:
            return self._agent_requests.get(message.id, "")
        return message.session

    async def put(self, data: bytes, message: Message, session: str, source: object) -> None:
        """Wait until the agent has received the last message or the connection has ended, and pass the next one on.

        Args:
            data: the message.
            message: its fields.
            session: the id of its session; empty if it has none.
            source: the source that its bytes are counted for until then.
        """
        while self._received is not None and not self.has_ended:
            await self._wait()
        if message.method is None:
            self._agent_requests.pop(message.id or "", None)
        elif message.id is not None:
            self._client_requests[message.id] = session, message.method
            if message.method in _LOADS:
                self._loads.setdefault(session)
            count = len(self._client_requests) + len(self._loads)  # each id may be stored twice
            self.account.set("requests", count * (_REQUEST_OVERHEAD + MAX_ID))
        # In JSON, newlines occur only between tokens.
        self._received = data.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"
        self.account.set(source, 0)
        self.account.set("received", len(data))
        self._changed.set()

    def is_open(self, session: str) -> bool:
        """Whether a response sends a stream."""
        return session in self._streams and self._streams[session].is_open

    def has_room_for(self, session: str) -> bool:
        """Whether there may be a stream for a session."""
        return session in self._streams or len(self._streams) <= self._bounds.streams

    @contextmanager
    def reading(self, session: str, abort: Callable[[], object]) -> Generator[Stream]:
        """Yield a stream, which is open during the block.

        Args:
            session: the session of the stream; empty for the connection's stream.
            abort: ends the block, even if the client doesn't read.
        """
        stream = self._get_stream(session)
        stream.begin_response(abort)
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield stream
        finally:
            stream.end_response()
            if session and not stream.unread:
                del self._streams[session]
                self._changed.set()
            self.watch_idle()
            self._close_account()

    def watch_idle(self) -> None:
        """End the connection after `idle_seconds` without an open stream."""
        if not self.has_ended and not self._is_read:
            self._idle = asyncio.get_running_loop().call_later(self._bounds.idle_seconds, self.end)

    @property
    def _is_read(self) -> bool:
        return any(stream.is_open for stream in self._streams.values())

    def _close_account(self) -> None:
        if self.has_ended and not self._is_read:
            self.account.close()

    def _choose_stream(self, message: Message) -> str | None:
        """Return the key of the stream for a message of the agent. None for the response to a waiting `initialize`."""
        if message.method is None:
            session, method = self._client_requests.pop(message.id or "", ("", ""))
            if method == _INITIALIZE and not self.answer.done():
                return None
            if method in _LOADS:
                key = self._loads.pop(session, None)
                return self._if_open(session) if key is None else key
            if method == _PROMPT or (self._has_unsent(session) and method not in ENDS_SESSION):
                return session
            return self._if_open(session)
        session = message.session
        if message.id is not None:
            self._agent_requests[message.id] = session
            if len(self._agent_requests) > _MAX_AGENT_REQUESTS:
                del self._agent_requests[next(iter(self._agent_requests))]
        if session not in self._loads:
            return session
        key = self._loads[session]
        if key is None:
            key = self._loads[session] = self._if_open(session)
        return key

    def _has_unsent(self, session: str) -> bool:
        return session in self._streams and self._streams[session].has_unsent

    def _if_open(self, session: str) -> str:
        return session if self.is_open(session) else _CONNECTION

    def _get_stream(self, key: str) -> Stream:
        if key not in self._streams:
            self._streams[key] = Stream(self._changed.set, self.account)
        return self._streams[key]

    async def _wait_for_room(self, key: str) -> None:
        """Wait while a stream is full, as long as the client reads it."""
        loop = asyncio.get_running_loop()
        seconds = self._bounds.unread_seconds
        try:
            async with asyncio.timeout(seconds) as deadline:
                while not self.has_ended and not self._has_room(key):
                    await self._wait()
                    if self.is_open(key):  # the response has the same time limit
                        deadline.reschedule(loop.time() + seconds)
        except TimeoutError:
            self.end()
        if self.has_ended:
            raise ConnectionError("The connection has ended, or the client doesn't read.")

    def _has_room(self, key: str) -> bool:
        if key in self._streams:
            stream = self._streams[key]
            if stream.is_open and not stream.has_unsent:  # the client reads it, even if other streams are full
                return True
            return stream.unread <= self._bounds.unread_bytes and not self.account.is_full
        return self.has_room_for(key) and not self.account.is_full

    async def _wait(self) -> None:
        """Wait until something has changed."""
        self._changed.clear()
        await self._changed.wait()
