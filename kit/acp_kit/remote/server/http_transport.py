"""A transport over HTTP, for agents: messages come in by POST, and go out on streams.

A message that names a session takes the stream of that session; if nobody reads it, it waits there. There are two
exceptions, because clients open that stream before they load a session, or after it:

* While a session is being loaded or resumed, its messages and the answer all take its stream if that was open at the
  first of them, else the connection's.
* Other answers about a session take its stream if it is open or if something waits there, which comes first, else the
  connection's. Those to its prompts always take the session's, those to its closing only if it is open.

Everything else takes the stream of the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from acp_kit.remote.messages import ENDS_SESSION, Message, read_message
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.streams import Stream

_INITIALIZE = "initialize"
_PROMPT = "session/prompt"
_LOADS = ("session/load", "session/resume")
_CONNECTION = ""  # the key of the stream that belongs to no session
_MAX_ASKED = 1024
_REQUEST = 500  # bytes that a request takes until it is answered, besides its ids


class Answer(NamedTuple):
    """The answer to `initialize`: its JSON, and whether it is an error."""

    line: bytes
    is_error: bool


class HTTPTransport:
    """One connection over HTTP, which begins when `initialize` was put.

    Args:
        bounds: how much the client may cost.
        accounts: count what waits.

    Attributes:
        account: counts what waits here.
        on_abort: ends the agent.
        abort_body: ends the POST whose message is next.
        answer: the answer to `initialize`; None if the connection ends before.
        has_ended: whether nothing more comes in or goes out.
        turn: held by the POST whose message is next.
        posts: how many POSTs there are at the moment.
    """

    def __init__(self, bounds: Bounds, accounts: Accounts) -> None:
        self.account = Account(accounts, self._abort)
        self.watch_buffered = self.account.watch
        self.on_abort: Callable[[], object] = lambda: None
        self.abort_body: Callable[[], object] = lambda: None
        self._bounds = bounds
        self._received: bytes | None = None
        self._changed = asyncio.Event()
        self._streams = {_CONNECTION: Stream(self._changed.set, self.account)}
        # The client's requests without an answer: the session and the method of each.
        self._requests: dict[str, tuple[str, str]] = {}
        # The sessions that are being loaded, and the stream of each; None while nothing was sent for it.
        self._loads: dict[str, str | None] = {}
        # The agent's requests without an answer: the session of each.
        self._asked: dict[str, str] = {}
        self._idle: asyncio.TimerHandle | None = None
        self.answer = asyncio.Future[Answer | None]()
        self.has_ended = False
        self.turn = asyncio.Lock()
        self.posts = 0

    async def receive(self) -> bytes:
        """Return the next message of the client."""
        self.account.passed()
        while self._received is None and not self.has_ended:
            await self._wait()
        line, self._received = self._received, None
        self.account.set("received", 0)
        self._changed.set()
        return b"" if self.has_ended or line is None else self.account.pass_on(line)

    async def send(self, data: bytes, /) -> None:
        """Put messages on their streams. Wait while one of these is full."""
        for line in data.splitlines():
            message = read_message(line)
            key = self._key(message)
            if key is None:
                if not message.is_error:
                    self.account.initialized()
                self.answer.set_result(Answer(line, message.is_error))
                continue
            await self._wait_for_room(key)
            self._stream(key).put(line)

    async def close(self) -> None:
        """End the connection."""
        self.end()

    def end(self) -> None:
        """Receive and send nothing more. What is queued can still be read from streams that are open."""
        self.has_ended = True
        self._changed.set()
        if not self.answer.done():
            self.answer.set_result(None)
        if self._idle is not None:
            self._idle.cancel()
        for stream in self._streams.values():
            stream.end()
        self._close_account()

    def _abort(self) -> None:
        """End the connection at once, and drop what waits."""
        self.on_abort()
        self.abort_body()
        self._received = None
        for stream in list(self._streams.values()):
            stream.abort()
        self.end()

    def session_of(self, message: Message) -> str:
        """Return the session that a message of the client belongs to; empty if that is not known."""
        if message.method is None and message.id is not None:
            return self._asked.get(message.id, "")
        return message.session

    async def put(self, data: bytes, message: Message, session: str, source: object) -> None:
        """Let the agent receive a message, when it has received the one before. Return at once at the end.

        Args:
            data: the message.
            message: what it says.
            session: the session that it belongs to; empty if it belongs to none.
            source: counts it until then.
        """
        while self._received is not None and not self.has_ended:
            await self._wait()
        if message.method is None:
            self._asked.pop(message.id or "", None)
        elif message.id is not None:
            self._requests[message.id] = session, message.method
            if message.method in _LOADS:
                self._loads.setdefault(session)
            size = _REQUEST + self._bounds.id_length
            self.account.set("requests", (len(self._requests) + len(self._loads)) * size)  # ids may occur twice
        # Inside JSON, newlines are only between tokens.
        self._received = data.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"
        self.account.set(source, 0)
        self.account.set("received", len(data))
        self._changed.set()

    def is_open(self, session: str) -> bool:
        """Whether a client reads a stream."""
        return session in self._streams and self._streams[session].is_open

    def has_room_for(self, session: str) -> bool:
        """Whether there may be a stream for a session."""
        return session in self._streams or len(self._streams) <= self._bounds.streams

    @contextmanager
    def reading(self, session: str, abort: Callable[[], object]) -> Generator[Stream]:
        """Yield a stream, which is open during the block. The connection may not be idle for longer than the bound.

        Args:
            session: the session of the stream; empty for that of the connection.
            abort: ends the block, although the client doesn't read.
        """
        stream = self._stream(session)
        stream.opened(abort)
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield stream
        finally:
            stream.left()
            if session and not stream.unread:
                del self._streams[session]
                self._changed.set()
            self.watch_idle()
            self._close_account()

    def watch_idle(self) -> None:
        """If no stream is open, end the connection unless one is opened in time."""
        if not self.has_ended and not self._is_read:
            self._idle = asyncio.get_running_loop().call_later(self._bounds.idle_seconds, self.end)

    @property
    def _is_read(self) -> bool:
        return any(stream.is_open for stream in self._streams.values())

    def _close_account(self) -> None:
        if self.has_ended and not self._is_read:
            self.account.close()

    def _key(self, message: Message) -> str | None:
        """Return the stream for a message of the agent: the id of its session, or that of the connection.

        The answer to `initialize` takes none, unless nobody waits for it any more.
        """
        if message.method is None:
            session, method = self._requests.pop(message.id or "", ("", ""))
            if method == _INITIALIZE and not self.answer.done():
                return None
            if method in _LOADS:
                key = self._loads.pop(session, None)
                return self._if_open(session) if key is None else key
            waits = session in self._streams and self._streams[session].waits
            return session if method == _PROMPT or (waits and method not in ENDS_SESSION) else self._if_open(session)
        session = message.session
        if message.id is not None:
            self._asked[message.id] = session
            if len(self._asked) > _MAX_ASKED:
                del self._asked[next(iter(self._asked))]
        if session not in self._loads:
            return session
        key = self._loads[session]
        if key is None:
            key = self._loads[session] = self._if_open(session)
        return key

    def _if_open(self, session: str) -> str:
        return session if self.is_open(session) else _CONNECTION

    def _stream(self, key: str) -> Stream:
        if key not in self._streams:
            self._streams[key] = Stream(self._changed.set, self.account)
        return self._streams[key]

    async def _wait_for_room(self, key: str) -> None:
        """Wait while a stream is full, as long as the client reads it."""
        loop, seconds = asyncio.get_running_loop(), self._bounds.unread_seconds
        try:
            async with asyncio.timeout(seconds) as deadline:
                while not self.has_ended and not self._has_room(key):
                    await self._wait()
                    if self.is_open(key):  # who writes to it has the same time limit
                        deadline.reschedule(loop.time() + seconds)
        except TimeoutError:
            self.end()
        if self.has_ended:
            raise ConnectionError("The connection has ended, or the client doesn't read")

    def _has_room(self, key: str) -> bool:
        if key in self._streams:
            stream = self._streams[key]
            if stream.is_open and not stream.waits:  # what is read goes on, whatever waits for others
                return True
            return stream.unread <= self._bounds.unread_bytes and not self.account.is_full
        return self.has_room_for(key) and not self.account.is_full

    async def _wait(self) -> None:
        """Wait until something has changed."""
        self._changed.clear()
        await self._changed.wait()
