"""A raw peer, which reads and writes bytes at the other end of a connection, independent of the runtime's framing."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from io import FileIO
from typing import Any, Literal

from acp_bindings.v1 import (
    Agent,
    Client,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    RequestPermissionOutcomeSelected,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
)
from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime.connection import Connection, run
from acp_runtime.connection.interfaces import ByteSource, ByteWriter
from acp_runtime.errors import ConnectionClosed
from acp_runtime.options import Options
from acp_runtime.transports.descriptors import FdReader, FdWriter
from acp_runtime.transports.memory import MemoryPipe
from acp_runtime.transports.transport import StreamTransport, TransportEnd
from tests.support.runtime.queue_transport import PeerEnd, queue_transports

Role = Literal["agent", "client"]
Ends = tuple[ByteSource, ByteWriter, ByteSource, ByteWriter]
# Joins our end, which has this role and this `flush_deadline`, with a peer's. The block has to close both.
Link = Callable[[Role, float], AbstractAsyncContextManager[Ends]]


@asynccontextmanager
async def _memory(*_: object) -> AsyncIterator[Ends]:
    there, back = MemoryPipe(64 * 1024), MemoryPipe(64 * 1024)
    yield there, back, back, there


@asynccontextmanager
async def _pipes(*_: object) -> AsyncIterator[Ends]:
    (theirs_in, ours_out), (ours_in, theirs_out) = _pipe(), _pipe()
    with closing(FdReader(ours_in)) as reader, closing(FdReader(theirs_in)) as peer_reader:
        yield reader, FdWriter(ours_out, shared=True), peer_reader, FdWriter(theirs_out, shared=False)


def _pipe() -> tuple[FileIO, FileIO]:
    read, write = os.pipe()
    return FileIO(read, "rb"), FileIO(write, "wb")


@asynccontextmanager
async def _streams(_: Role, flush_deadline: float) -> AsyncIterator[Ends]:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    peer_reader, peer_writer = await asyncio.open_connection(sock=theirs)
    end = TransportEnd(StreamTransport(reader, writer), flush_deadline)
    peer = PeerEnd(_HalfClosing(peer_reader, peer_writer), 2)
    with closing(writer), closing(peer_writer):
        yield end, end, peer, peer


class _HalfClosing(StreamTransport):
    """Closes only the writing half, so that the peer can still read."""

    async def close(self) -> None:
        if not self._writer.is_closing():
            self._writer.write_eof()


@asynccontextmanager
async def _transport(_: Role, flush_deadline: float) -> AsyncIterator[Ends]:
    ours, theirs = queue_transports()
    end, peer = TransportEnd(ours, flush_deadline), PeerEnd(theirs, 2)
    yield end, end, peer, peer


LINKS: dict[str, Link] = {"memory": _memory, "pipes": _pipes, "streams": _streams, "transport": _transport}


class Peer:
    """The other end of a connection. It reads only when `receive` is called.

    Attributes:
        deadline: how many seconds it waits for a line.
    """

    deadline = 10.0

    def __init__(self, source: ByteSource, writer: ByteWriter) -> None:
        self._source = source
        self._has_ended = False
        self._has_data = asyncio.Event()
        self.writer = writer
        self._bytes = b""
        source.start(self)
        source.pause()
        self._next = 1000

    def received(self, data: bytes, /) -> None:
        self._bytes += data
        self._source.pause()
        self._has_data.set()

    def ended(self, error: OSError | None, /) -> None:
        self._has_ended = True
        self._has_data.set()

    async def send(self, *messages: Any) -> None:
        """Send messages: bytes unchanged, anything else as a line of JSON-RPC."""
        for message in messages:
            self.writer.write(message if isinstance(message, bytes) else line(message))
        await self.writer.drain()

    async def receive_line(self) -> bytes:
        async with asyncio.timeout(self.deadline):
            while b"\n" not in self._bytes:
                if self._has_ended:
                    raise EOFError(self._bytes)
                self._has_data.clear()
                self._source.resume()
                await self._has_data.wait()
        received, self._bytes = self._bytes.split(b"\n", 1)
        return received

    async def receive(self) -> Any:
        return json.loads(await self.receive_line())

    async def answer(self, **response: Any) -> Any:
        """Answer the next message, a request, with a `result` or an `error`. Return its params."""
        request = await self.receive()
        await self.send({"id": request["id"], **response})
        return request.get("params")

    async def call(self, method: str, params: Any = None) -> Any:
        """Send a request, and return its response, which must be the next message."""
        self._next += 1
        await self.send({"id": self._next, "method": method, "params": params})
        answer = await self.receive()
        assert answer["id"] == self._next, answer
        return answer

    async def until_quiet(self) -> list[Any]:
        """Return the messages that the other side sends before it answers an unknown request."""
        self._next += 1
        await self.send({"id": self._next, "method": "quiet"})
        messages: list[Any] = []
        while (message := await self.receive()).get("id") != self._next:
            messages.append(message)
        return messages

    async def stop(self) -> None:
        await self._source.stop()

    async def end(self) -> None:
        """Close this side, so that the other side reads EOF."""
        await self.writer.close()

    async def rest(self) -> list[Any]:
        """Return all further messages until the other side closes."""
        messages: list[Any] = []
        try:
            while True:
                messages.append(await self.receive())
        except EOFError:
            return messages


def line(message: Any) -> bytes:
    """Return the line of a message."""
    return json.dumps({"jsonrpc": "2.0", **message} if isinstance(message, dict) else message).encode() + b"\n"


INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {}}


class PlainAgent(Agent):
    """An agent with only the required methods."""

    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        return InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        return NewSessionResponse(session_id="s1")

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        return PromptResponse(stop_reason="end_turn")


class PlainClient(Client):
    """A client that records updates."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.updates: list[SessionNotification] = []

    async def session_update(self, notification: SessionNotification, /) -> None:
        self.updates.append(notification)

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id="yes"))


@asynccontextmanager
async def serving(
    link: Link,
    factory: Callable[[Any], Any] = PlainAgent,
    *,
    ready: bool = True,
    side: Any = AGENT_SIDE,
    **options: Any,
) -> AsyncIterator[Peer]:
    """Connect our agent with a raw client. Yield the raw client."""
    async with _connected(link, "agent", side, factory, options) as (_, peer):
        if ready:
            await peer.call("initialize", INITIALIZE)
        yield peer


@asynccontextmanager
async def calling(
    link: Link,
    factory: Callable[[Any], Any] = PlainClient,
    *,
    capabilities: dict[str, Any] | None = None,
    ready: bool = True,
    side: Any = CLIENT_SIDE,
    **options: Any,
) -> AsyncIterator[tuple[RemoteAgent, Peer]]:
    """Connect our client with a raw agent. Yield the proxy and the raw agent."""
    async with _connected(link, "client", side, factory, options) as (connection, peer):
        if ready:
            await _initialize(connection.remote, peer, capabilities or {})
        yield connection.remote, peer


@asynccontextmanager
async def _connected(
    link: Link, role: Role, side: Any, factory: Callable[[Any], Any], options: dict[str, Any]
) -> AsyncIterator[tuple[Connection, Peer]]:
    chosen = Options(**options)
    async with link(role, chosen.flush_deadline) as (source, writer, peer_source, peer_writer):
        connection = Connection(side, factory, source, writer, chosen)
        running = asyncio.create_task(run_over(source, connection))
        peer = Peer(peer_source, peer_writer)
        try:
            yield connection, peer
        finally:
            try:
                async with asyncio.timeout(30):
                    await peer.writer.close()
                    await running
            except TimeoutError:
                running.cancel()
                raise
            finally:
                peer.writer.abort()
                await peer.stop()


async def run_over(source: ByteSource, connection: Connection) -> ConnectionClosed:
    """Run a connection over a link, and close its end of the link."""
    async with source if isinstance(source, TransportEnd) else nullcontext():
        return await run(connection)


async def _initialize(remote: RemoteAgent, peer: Peer, capabilities: dict[str, Any]) -> None:
    call = asyncio.create_task(remote.initialize(protocol_version=1))
    await peer.answer(result={"protocolVersion": 1, "agentCapabilities": capabilities})
    await call


def chunk(text: str) -> SessionUpdateAgentMessageChunk:
    """Return an `agent_message_chunk` with a text."""
    return SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text))


def text_of(notification: SessionNotification) -> str:
    """Return the text of such an update."""
    received: Any = notification.update
    return str(received.content.text)


def update(session: str, text: str) -> dict[str, Any]:
    """Return a `session/update` with an `agent_message_chunk`."""
    content = {"type": "text", "text": text}
    return {
        "method": "session/update",
        "params": {"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}},
    }


def prompt(id: Any, session: str = "s1", text: str = "hi") -> dict[str, Any]:
    """Return a `session/prompt`."""
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return {"id": id, "method": "session/prompt", "params": params}
