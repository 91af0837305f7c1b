"""Servers for tests of remote agents: an application on a free port of loopback, and raw requests to it."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import hypercorn.asyncio
import pytest
from hypercorn.config import Config

from acp_kit.remote.server.http_transport import HTTPTransport
from acp_kit.remote.server.running import serve
from acp_kit.remote.server.streams import Stream
from acp_kit.remote.server.websocket import WebSocketTransport
from tests.support.kit.http_heads import read_head

SERVERS = ("uvicorn", pytest.param("hypercorn", marks=pytest.mark.test_all))
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
JSON = {"Content-Type": "application/json"}
EVENTS = {"Accept": "text/event-stream"}
_FREED_AT_THE_END = (HTTPTransport, Stream, WebSocketTransport)


@dataclass
class Response:
    """A response, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Events:
    """A chunked response whose body is a stream of events."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._body = b""
        self.writer = writer

    async def line(self) -> bytes:
        """Return the next line that is not empty; b"" at the end."""
        while True:
            while b"\n" not in self._body:
                size = int(await self._reader.readline() or b"0", 16)
                if not size:
                    return b""
                self._body += (await self._reader.readexactly(size + 2))[:-2]
            line, _, self._body = self._body.partition(b"\n")
            if line:
                return line

    async def next(self) -> Any:
        """Return the next message; None at the end."""
        while line := await self.line():
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@dataclass
class Site:
    """A server that runs, and its clients.

    Attributes:
        port: where it listens.
    """

    port: int

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=2**27)

    async def begin(
        self, method: str, headers: dict[str, str] | list[tuple[str, str]], body: bytes = b"", path: str = "/acp"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request on a connection of its own. Without `Content-Length` or `Transfer-Encoding`, add the first."""
        pairs = headers if isinstance(headers, list) else list(headers.items())
        names = {name.lower() for name, _ in pairs}
        if "host" not in names:
            pairs = [("Host", f"127.0.0.1:{self.port}"), *pairs]
        if body and not names & {"content-length", "transfer-encoding"}:
            pairs = [*pairs, ("Content-Length", str(len(body)))]
        reader, writer = await self.connect()
        head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
        return reader, writer

    async def request(self, method: str, headers: Any, body: Any = b"", path: str = "/acp") -> Response:
        """Send a request, and read the response. A body that isn't bytes is sent as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        reader, writer = await self.begin(method, headers, data, path)
        try:
            return await read_response(reader, with_body=method != "HEAD")
        finally:
            writer.close()

    async def post(self, connection: str, message: Any, **headers: str) -> Response:
        return await self.request("POST", {**JSON, "Acp-Connection-Id": connection, **headers}, message)

    async def initialize(self) -> str:
        """Open a connection over HTTP, and return its id."""
        response = await self.request("POST", JSON, INITIALIZE)
        assert response.status == 200, response
        return response.headers["acp-connection-id"]

    async def stream(self, connection: str, session: str | None = None, **headers: str) -> Events:
        """Open a stream of events, and wait until it is open."""
        status, events = await self._stream(connection, session, headers)
        assert (status, await events.line()) == (200, b":")
        return events

    async def reopen(self, connection: str, session: str | None) -> Events:
        """Open a stream that the server may think is still read."""
        while (opened := await self._stream(connection, session, {}))[0] == 409:
            await opened[1].close()
        return opened[1]

    async def _stream(self, connection: str, session: str | None, headers: dict[str, str]) -> tuple[int, Events]:
        named = {} if session is None else {"Acp-Session-Id": session}
        last = {"Connection": "close"}  # the end of the stream is the end of the connection
        named = {**EVENTS, **last, "Acp-Connection-Id": connection, **named, **headers}
        reader, writer = await self.begin("GET", named)
        first, _ = await read_head(reader)
        return int(first.split()[1]), Events(reader, writer)

    async def delete(self, connection: str) -> Response:
        return await self.request("DELETE", {"Acp-Connection-Id": connection})


async def read_response(reader: asyncio.StreamReader, *, with_body: bool = True) -> Response:
    """Read a response with a `Content-Length`, or without a body."""
    first, headers = await read_head(reader)
    size = int(headers.get("content-length", 0)) if with_body else 0
    return Response(int(first.split()[1]), headers, await reader.readexactly(size))


@asynccontextmanager
async def serving(
    app: Any, server: str = "uvicorn", *, errors: int | None = 0, options: dict[str, Any] | None = None
) -> AsyncGenerator[Site]:
    """Serve an application until the block ends. Then nothing of it may be left.

    Args:
        app: the application.
        server: "uvicorn" or "hypercorn".
        errors: how many errors are logged; None if the server may log some of its own.
        options: of uvicorn.
    """
    gc.freeze()  # what exists is left out of `left_in_memory()`, for which it would take most of the time of a test
    listener = socket.create_server(("127.0.0.1", 0))
    log = _Errors(logging.ERROR)
    logging.getLogger().addHandler(log)
    try:
        site = Site(listener.getsockname()[1])
        running = run_hypercorn(app, listener) if server == "hypercorn" else _uvicorn(app, listener, options or {})
        async with running:
            yield site
    finally:
        logging.getLogger().removeHandler(log)
    assert errors is None or len(log.messages) == errors, log.messages
    assert not left_in_memory()


def left_in_memory() -> list[object]:
    """Return the transports and streams that `serving` has made and that are still in memory."""
    gc.collect()
    return [object_ for object_ in gc.get_objects() if issubclass(type(object_), _FREED_AT_THE_END)]


class _Errors(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # Python 3.11 logs as errors those connections that a server cancels when it ends.
        if "StreamReaderProtocol.connection_made" not in record.getMessage():
            self.messages.append(self.format(record))
        record.exc_info = None  # pytest keeps records, but must not keep what failed


@asynccontextmanager
async def run_hypercorn(app: Any, listener: socket.socket, **options: Any) -> AsyncGenerator[None]:
    """Serve an application with Hypercorn as long as the block runs."""
    config, stop = Config(), asyncio.Event()
    config.bind = [f"fd://{listener.detach()}"]
    config.errorlog = logging.getLogger("tests.hypercorn")
    config.graceful_timeout = 0.1
    for name, value in options.items():
        setattr(config, name, value)
    serve_hypercorn: Any = hypercorn.asyncio.serve
    task = asyncio.create_task(serve_hypercorn(app, config, shutdown_trigger=stop.wait))
    try:
        yield
    finally:
        stop.set()
        await task


@asynccontextmanager
async def _uvicorn(app: Any, listener: socket.socket, options: dict[str, Any]) -> AsyncGenerator[None]:
    task = asyncio.create_task(serve(app, [listener], **{"log_config": None, "lifespan": "on", **options}))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        listener.close()
