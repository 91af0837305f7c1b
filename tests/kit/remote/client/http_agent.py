"""A scripted HTTP/1.1 server: it keeps every request, and answers as the test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from acp_kit.remote import open_transport
from acp_runtime.transports import Transport
from tests.support.kit.http_heads import read_head
from tests.support.runtime.peer import line

NEVER = 0  # as a status: the request is not answered
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
INITIALIZED = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}


@dataclass
class Request:
    """A request. `place` is `POST method`, `POST answer`, `GET`, `GET session` or `DELETE`."""

    place: str
    headers: dict[str, str]
    message: Any
    body: bytes
    writer: asyncio.StreamWriter


@dataclass
class Stream:
    """An open stream of events."""

    writer: asyncio.StreamWriter

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def say(self, message: Any) -> None:
        await self.write(b"data: " + line(message) + b"\n")

    async def end(self) -> None:
        self.writer.close()


@dataclass
class HttpAgent:
    """Answers each request with the next of `answers` for its place: a status, headers and a body."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    answers: dict[str, list[tuple[str, dict[str, str], bytes]]] = field(default_factory=dict)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    serving: list[asyncio.Task[None]] = field(default_factory=list)
    _streams: dict[str, asyncio.Queue[Stream]] = field(default_factory=dict)
    _received: asyncio.Event = field(default_factory=asyncio.Event)

    def answer(self, place: str, status: int, body: str | bytes = "", reason: str = "Status", **headers: str) -> None:
        """Answer one request at a place."""
        content = body.encode() if isinstance(body, str) else body
        self.answers.setdefault(place, []).append((f"{status} {reason}" if status else "", headers, content))

    async def stream(self, session: str = "") -> Stream:
        """Wait until the client opens the stream of a session, or of the connection if none is named."""
        return await self._queue(f"GET {session}".strip()).get()

    async def request(self, place: str, number: int = 1) -> Request:
        """Wait for a request."""
        while len(requests := [request for request in self.requests if request.place == place]) < number:
            self._received.clear()
            await self._received.wait()
        return requests[number - 1]

    def places(self) -> list[str]:
        return [request.place for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.append(task)
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._respond(await _read(reader, writer))
        writer.close()

    async def _respond(self, request: Request) -> None:
        writer = request.writer
        self.requests.append(request)
        self._received.set()
        if self.answers.get(request.place):
            status, headers, content = self.answers[request.place].pop(0)
        elif request.place.startswith("GET"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            await writer.drain()
            self._queue(request.place).put_nowait(Stream(writer))
            return
        elif request.place == "POST initialize":
            json_type = {"Content-Type": "application/json", "Acp-Connection-Id": "connection-1"}
            content = json.dumps({**INITIALIZED, "id": request.message["id"]}).encode()
            status, headers = "200 OK", json_type
        else:
            status, headers, content = "202 Accepted", {}, b""
        if not status:
            return
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{head}\r\n".encode("latin-1") + content)
        await writer.drain()

    def _queue(self, place: str) -> asyncio.Queue[Stream]:
        return self._streams.setdefault(place, asyncio.Queue())


@asynccontextmanager
async def http_agent() -> AsyncGenerator[HttpAgent]:
    """Serve at a free port of the loopback interface."""
    agent = HttpAgent()
    server = await asyncio.start_server(agent.serve, "127.0.0.1", 0)
    agent.url = "http://{}:{}/acp".format(*server.sockets[0].getsockname())
    try:
        yield agent
    finally:
        server.close()
        for writer in agent.writers:
            writer.transport.abort()
        await asyncio.gather(*agent.serving)


class Client:
    """The client's end of a transport, one message at a time."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._lines: list[bytes] = []

    async def send(self, *lines: bytes) -> None:
        await self.transport.send(b"".join(lines))

    async def receive(self) -> Any:
        """Return the next message; None at the end."""
        if not self._lines:
            self._lines = (await self.transport.receive()).splitlines()
        return json.loads(self._lines.pop(0)) if self._lines else None


@asynccontextmanager
async def connected(agent: HttpAgent, **options: Any) -> AsyncGenerator[tuple[Client, Stream]]:
    """Open a transport, initialize, and yield the client with the stream of the connection."""
    transport = await open_transport(agent.url, **options)
    try:
        client = Client(transport)
        await client.send(line(INITIALIZE))
        assert await client.receive() == INITIALIZED
        yield client, await agent.stream()
    finally:
        await transport.close()


def call(id: int | str, method: str, **params: Any) -> bytes:
    """Return a request as a line."""
    return line({"id": id, "method": method, "params": params})


def result(id: int | str, **members: Any) -> dict[str, Any]:
    """Return an answer."""
    return {"jsonrpc": "2.0", "id": id, "result": members}


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    first, headers = await read_head(reader)
    method = first.split()[0]
    message, body = None, b""
    place = f"{method} {headers.get('acp-session-id', '')}".strip()
    if method == "POST":
        body = await reader.readexactly(int(headers["content-length"]))
        message = json.loads(body)
        named = message.get("method", "answer") if isinstance(message, dict) else "batch"
        place = f"POST {named}"
    return Request(place, headers, message, body, writer)
