"""The HTTP requests of clients: POST, GET and DELETE."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext, suppress
from secrets import token_urlsafe
from typing import Any

from acp_kit.remote.headers import CONNECTION_ID, MAX_ID, SESSION_ID
from acp_kit.remote.messages import Batch, Message, read_message
from acp_kit.remote.server.account import Accounts
from acp_kit.remote.server.admission import METHODS, Admission
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections, Slot
from acp_kit.remote.server.http_transport import Answer, HTTPTransport
from acp_kit.remote.server.requests import HTTPRequest, Receive, Refused, Response, Send, encode_headers
from acp_runtime.jsonrpc import memory_of

_LAST_SECONDS = 1.0  # for the end of a stream, when the server stops or the client doesn't read


class HTTPEndpoint:
    """Answers HTTP requests.

    Args:
        connections: serve the agent.
        admission: decides who may send requests.
        bounds: limits on what clients may use.
        accounts: count buffered bytes.
    """

    def __init__(self, connections: Connections, admission: Admission, bounds: Bounds, accounts: Accounts) -> None:
        self._accounts = accounts
        self._connections = connections
        self._admission = admission
        self._bounds = bounds
        self._transports: dict[str, tuple[HTTPTransport, Any]] = {}
        self._leaving = set[asyncio.Task[None]]()  # of open streams, until their clients disconnect

    async def __call__(self, request: HTTPRequest, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            Refused: if it is refused.
        """
        opens = request.method == "POST" and not request.header(CONNECTION_ID)
        with self._connections.slot() if opens else nullcontext() as slot:
            identity = await self._admission.authenticate(request)
            if slot is not None:
                self._connections.assign(slot, identity)
                response = await self._open(request, receive, slot)
            elif request.method == "POST":
                response = await self._post(request, receive, identity)
            elif request.method == "DELETE":
                self._find(request, identity).end()
                response = Response(202)
            elif request.method == "GET":
                await self._get(request, receive, send, identity)
                return
            else:
                raise Refused(405, f"Use one of {METHODS}.", headers={"Allow": METHODS})
        await response.send(request, send)

    async def close(self) -> None:
        """Wait until open streams have ended. End those that aren't read."""
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=_LAST_SECONDS)
        for leaving in self._leaving:
            leaving.cancel()

    def _find(self, request: HTTPRequest, identity: Any) -> HTTPTransport:
        """Return the connection of a request."""
        id = request.header(CONNECTION_ID)
        if not id:
            raise Refused(400, f"The request has no {CONNECTION_ID}. Get one with a POST of an initialize request.")
        transport, owner = self._transports.get(id, (None, None))
        if transport is None or transport.has_ended or owner != identity:
            raise Refused(404, f"There is no such connection: the {CONNECTION_ID} is unknown, or the connection ended.")
        return transport

    def _read_session(self, request: HTTPRequest) -> str:
        session = request.header(SESSION_ID)
        if len(session) > MAX_ID:
            raise Refused(400, f"The {SESSION_ID} is longer than {MAX_ID} characters.")
        return session

    # POST

    async def _post(self, request: HTTPRequest, receive: Receive, identity: Any) -> Response:
        transport = self._find(request, identity)
        if transport.posts >= self._bounds.posts:
            raise Refused(503, "Too many messages wait for the agent. Send it later.", headers={"Retry-After": "1"})
        await self._deliver(request, receive, transport, self._bounds.message_bytes, self._bounds.body_seconds)
        self._find(request, identity)  # it may have ended meanwhile
        return Response(202)

    async def _open(self, request: HTTPRequest, receive: Receive, slot: Slot) -> Response:
        """Open a connection, and return the response to `initialize`."""
        id = token_urlsafe(24)
        transport = HTTPTransport(self._bounds, self._accounts)
        slot.end = transport.end
        answer: Answer | None = None
        try:
            max_bytes = min(self._bounds.first_bytes, self._bounds.message_bytes)
            await self._deliver(request, receive, transport, max_bytes, self._bounds.first_seconds)
            self._transports[id] = transport, slot.identity
            task = self._connections.start(slot, transport)
            transport.on_abort = task.cancel
            task.add_done_callback(lambda _: self._forget(id))
            async with asyncio.timeout(self._bounds.idle_seconds):
                answer = await transport.answer
        except TimeoutError:
            raise Refused(504, "The agent didn't answer the initialize request in time.", -32603) from None
        finally:
            if answer is None or answer.is_error:
                transport.end()
        if answer is None:
            raise Refused(500, "The agent ended before it answered the initialize request.", -32603)
        transport.watch_idle()
        headers = {"Content-Type": "application/json"} | ({} if answer.is_error else {CONNECTION_ID: id})
        return Response(200, headers, answer.line)

    async def _deliver(
        self, request: HTTPRequest, receive: Receive, transport: HTTPTransport, max_bytes: int, seconds: float
    ) -> None:
        """Pass the message of a body on to the agent. Its bytes are counted until then."""
        if request.header("content-type").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "The Content-Type must be application/json.")
        if request.header("content-encoding").lower() not in ("", "identity"):
            raise Refused(415, "The body must not have a Content-Encoding.")
        header_session = self._read_session(request)
        account = transport.account
        transport.posts += 1
        account.set(request, request.buffer_size)
        try:
            async with transport.turn:
                body = await self._read_body(request, receive, transport, max_bytes, seconds)
                account.set(request, memory_of(body))
                _check_room(transport)
                message = self._read_message(body, opens=not request.header(CONNECTION_ID))
                session = transport.session_of(message) or header_session
                if header_session not in ("", session):
                    raise Refused(400, f"The message belongs to another session than {SESSION_ID} says.")
                await transport.put(body, message, session, request)
        finally:
            transport.posts -= 1
            account.set(request, 0)

    def _read_message(self, body: bytes, *, opens: bool) -> Message:
        """Read a message. `opens` says whether it opens a connection."""
        try:
            message = read_message(body)
        except Batch as batch:
            raise Refused(501, str(batch)) from None
        except ValueError as error:
            raise Refused(400, f"The body must be a JSON object in UTF-8: {error}", -32700) from None
        if max(len(message.session), len(message.id or "")) > MAX_ID:
            raise Refused(400, f"An id in the message is longer than {MAX_ID} characters.")
        if opens and (message.method != "initialize" or message.id is None):
            raise Refused(400, f"Only an initialize request may come without {CONNECTION_ID}.")
        if message.method == "initialize" and not opens:
            raise Refused(400, f"An initialize request opens a new connection, without {CONNECTION_ID}.")
        return message

    async def _read_body(
        self, request: HTTPRequest, receive: Receive, transport: HTTPTransport, max_bytes: int, seconds: float
    ) -> bytes:
        body = bytearray()
        size = 0
        has_more = True
        try:
            async with asyncio.timeout(seconds) as deadline:
                with transport.reading_body(deadline):
                    while has_more:
                        event = await receive()
                        if event["type"] == "http.disconnect":
                            raise Refused(499, "The client has disconnected.")
                        chunk = event.get("body", b"")
                        has_more = event.get("more_body", False)
                        size += len(chunk)
                        # The rest is read, too: otherwise, servers close the whole connection over HTTP/2.
                        body += chunk if size <= max_bytes else b""
                        transport.account.set(request, len(body))
        except TimeoutError:
            _check_room(transport)
            if transport.has_ended:
                raise Refused(503, "The connection has ended before its body was received.") from None
            if size <= max_bytes:
                raise Refused(408, f"The body took longer than {seconds} seconds.") from None
        if size > max_bytes:
            raise Refused(413, f"The message is larger than the limit of {max_bytes} bytes.")
        return bytes(body)

    def _forget(self, id: str) -> None:
        transport, _ = self._transports.pop(id)
        transport.end()

    # GET

    async def _get(self, request: HTTPRequest, receive: Receive, send: Send, identity: Any) -> None:
        if request.header("upgrade"):
            raise Refused(426, "Only an upgrade to websocket is possible.", headers={"Upgrade": "websocket"})
        if not _accepts_events(request):
            raise Refused(406, "The Accept header must allow text/event-stream.")
        transport = self._find(request, identity)
        session = self._read_session(request)
        if transport.is_open(session):
            raise Refused(409, "This stream already has a reader.")
        if not transport.has_room_for(session):
            raise Refused(503, "The connection has too many streams.", headers={"Retry-After": "10"})
        leaving = asyncio.create_task(_wait_for_disconnect(receive), name="acp-stream-left")
        self._leaving.add(leaving)
        try:
            await self._send_stream(request, send, transport, session, leaving)
        finally:
            self._leaving.discard(leaving)
            leaving.cancel()

    async def _send_stream(
        self, request: HTTPRequest, send: Send, transport: HTTPTransport, session: str, leaving: asyncio.Task[None]
    ) -> None:
        """Send a stream until it ends, the client disconnects, or doesn't read."""
        aborted = asyncio.Event()
        seconds = self._bounds.unread_seconds
        with transport.reading(session, aborted.set) as stream:
            writing = asyncio.create_task(stream.write(send, encode_headers(request, {}), seconds), name="acp-stream")
            abort = asyncio.create_task(aborted.wait())
            try:
                await asyncio.wait({writing, leaving, abort}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                abort.cancel()
                writing.cancel()
                (result,) = await asyncio.gather(writing, return_exceptions=True)
        if isinstance(result, TimeoutError):
            transport.end()
        if result is not None:
            await _end_response(send, leaving, seconds)


async def _end_response(send: Send, leaving: asyncio.Task[None], seconds: float) -> None:
    """End a response before its end. If the client doesn't read, wait until it has disconnected.

    uvicorn logs an error if a response has no end.
    """
    with suppress(Exception):
        async with asyncio.timeout(_LAST_SECONDS):
            await send({"type": "http.response.body"})
            return
    await asyncio.wait({leaving}, timeout=seconds)


def _check_room(transport: HTTPTransport) -> None:
    """Refuse a message if its connection was aborted because of too many buffered bytes."""
    if transport.was_aborted:
        raise Refused(413, "The message takes too much memory, or the server has buffered too much.")


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects. Data from it is dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _accepts_events(request: HTTPRequest) -> bool:
    accept = ",".join(request.headers.get_all("accept")) or "*/*"
    ranges = {media_range.partition(";")[0].strip().lower() for media_range in accept.split(",")}
    return not ranges.isdisjoint({"text/event-stream", "text/*", "*/*"})
