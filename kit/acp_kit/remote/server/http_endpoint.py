"""The HTTP requests of clients: POST, GET and DELETE."""

from __future__ import annotations

import asyncio
from contextlib import closing, nullcontext
from functools import partial
from secrets import token_urlsafe
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from acp_kit.remote.headers import CONNECTION_ID, SESSION_ID
from acp_kit.remote.messages import Batch, Message, read_message
from acp_kit.remote.server.account import Account, Accounts
from acp_kit.remote.server.admission import Admission, Refused, header
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.connections import Connections
from acp_kit.remote.server.http_transport import Answer, HTTPTransport
from acp_kit.remote.server.uvicorn_protocols import protocol_of
from acp_runtime.jsonrpc import memory_of

_MAX_BUFFER_BYTES = 80 * 1024  # bytes of a body that uvicorn may read before the application does


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as an ASGI application."""
        request = Request(scope, receive)
        opens = request.method == "POST" and not header(request, CONNECTION_ID)
        with self._connections.place() if opens else nullcontext() as place:
            with closing(Account(self._accounts, partial(_abort, request))) as account:
                account.set(request, _buffer_size(request))
                identity = await self._admission.admit(request)
            response = await self._respond(request, identity, place)
        await response(scope, receive, send)

    async def _respond(self, request: Request, identity: Any, place: object) -> ASGIApp:
        match request.method:
            case "POST" if place is not None:
                return await self._open(request, identity, place)
            case "POST":
                return await self._post(request, identity)
            case "GET":
                return self._get(request, identity)
            case "DELETE":
                self._find(request, identity).end()
                return Response(status_code=202)
            case _:
                raise Refused(405, "Use POST, GET or DELETE.", headers={"Allow": "POST, GET, DELETE"})

    def _find(self, request: Request, identity: Any) -> HTTPTransport:
        """Return the connection of a request."""
        id = header(request, CONNECTION_ID)
        if not id:
            raise Refused(400, f"The request has no {CONNECTION_ID}. Get one with a POST of an initialize request.")
        transport, owner = self._transports.get(id, (None, None))
        if transport is None or transport.has_ended or owner != identity:
            raise Refused(404, f"There is no such connection: the {CONNECTION_ID} is unknown, or the connection ended.")
        _end_on_shutdown(request, transport)
        return transport

    def _session(self, request: Request) -> str:
        session = header(request, SESSION_ID)
        if len(session) > self._bounds.id_length:
            raise Refused(400, f"The {SESSION_ID} is longer than {self._bounds.id_length} characters.")
        return session

    # POST

    async def _post(self, request: Request, identity: Any) -> Response:
        transport = self._find(request, identity)
        if transport.posts >= self._bounds.posts:
            raise Refused(503, "Too many messages wait for the agent. Send it later.", headers={"Retry-After": "1"})
        await self._deliver(request, transport, self._bounds.message_bytes, self._bounds.body_seconds)
        self._find(request, identity)  # it may have ended meanwhile
        return Response(status_code=202)

    async def _open(self, request: Request, identity: Any, place: object) -> Response:
        """Open a connection, and return the response to `initialize`."""
        id = token_urlsafe(24)
        transport = HTTPTransport(self._bounds, self._accounts)
        _end_on_shutdown(request, transport)
        answer: Answer | None = None
        try:
            max_bytes = min(self._bounds.first_bytes, self._bounds.message_bytes)
            await self._deliver(request, transport, max_bytes, self._bounds.first_seconds)
            self._transports[id] = transport, identity
            task = self._connections.start(place, transport, identity)
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
        headers = {} if answer.is_error else {CONNECTION_ID: id}
        return Response(answer.line, media_type="application/json", headers=headers)

    async def _deliver(self, request: Request, transport: HTTPTransport, max_bytes: int, seconds: float) -> None:
        """Pass the message of a body on to the agent. Its bytes are counted until then."""
        if header(request, "content-type").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "The Content-Type must be application/json.")
        if header(request, "content-encoding").lower() not in ("", "identity"):
            raise Refused(415, "The body must not have a Content-Encoding.")
        header_session = self._session(request)
        account = transport.account
        transport.posts += 1
        account.set(request, _buffer_size(request))
        try:
            async with transport.turn:
                transport.abort_body = partial(_abort, request)
                body = await self._body(request, max_bytes, seconds, account)
                account.set(request, memory_of(body))
                if not account.is_open:
                    raise Refused(413, "The message takes too much memory, or the server has buffered too much.")
                message = self._message(body, opens=not header(request, CONNECTION_ID))
                session = transport.session_of(message) or header_session
                if header_session not in ("", session):
                    raise Refused(400, f"The message belongs to another session than {SESSION_ID} says.")
                await transport.put(body, message, session, request)
                transport.abort_body = lambda: None
        finally:
            transport.posts -= 1
            account.set(request, 0)

    def _message(self, body: bytes, *, opens: bool) -> Message:
        """Read a message. `opens` says whether it opens a connection."""
        try:
            message = read_message(body)
        except Batch as batch:
            raise Refused(501, str(batch)) from None
        except ValueError as error:
            raise Refused(400, f"The body must be a JSON object in UTF-8: {error}", -32700) from None
        if max(len(message.session), len(message.id or "")) > self._bounds.id_length:
            raise Refused(400, f"An id in the message is longer than {self._bounds.id_length} characters.")
        if opens and (message.method != "initialize" or message.id is None):
            raise Refused(400, f"Only an initialize request may come without {CONNECTION_ID}.")
        if message.method == "initialize" and not opens:
            raise Refused(400, f"An initialize request opens a new connection, without {CONNECTION_ID}.")
        return message

    async def _body(self, request: Request, max_bytes: int, seconds: float, account: Account) -> bytes:
        body, size = bytearray(), 0
        try:
            async with asyncio.timeout(seconds):
                async for chunk in request.stream():
                    size += len(chunk)
                    # The rest is read, too: otherwise, servers close the whole connection over HTTP/2.
                    body += chunk if size <= max_bytes else b""
                    account.set(request, len(body))
        except TimeoutError:
            if size <= max_bytes:
                raise Refused(408, f"The body took longer than {seconds} seconds.") from None
        except ClientDisconnect:
            raise Refused(499, "The client has disconnected.") from None
        if size > max_bytes:
            raise Refused(413, f"The message is larger than the limit of {max_bytes} bytes.")
        return bytes(body)

    def _forget(self, id: str) -> None:
        transport, _ = self._transports.pop(id)
        transport.end()

    # GET

    def _get(self, request: Request, identity: Any) -> ASGIApp:
        if header(request, "upgrade"):
            raise Refused(426, "Only an upgrade to websocket is possible.", headers={"Upgrade": "websocket"})
        if not _accepts_events(request):
            raise Refused(406, "The Accept header must allow text/event-stream.")
        transport, session = self._find(request, identity), self._session(request)
        if transport.is_open(session):
            raise Refused(409, "This stream already has a reader.")
        if not transport.has_room_for(session):
            raise Refused(503, "The connection has too many streams.", headers={"Retry-After": "10"})

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            leaving = asyncio.create_task(_wait_for_disconnect(receive), name="acp-stream-left")
            with transport.reading(session, leaving.cancel) as stream:
                writing = asyncio.create_task(stream.write(send, self._bounds.unread_seconds), name="acp-stream")
                try:
                    await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    writing.cancel()
                    leaving.cancel()
                    results = await asyncio.gather(writing, leaving, return_exceptions=True)
            if results[0] is not None and (uvicorn := protocol_of(request.scope)):
                uvicorn.transport.abort()  # drops the bytes that the server buffers for a client that doesn't read
                await _wait_for_disconnect(receive)  # otherwise, uvicorn logs an incomplete response as an error
            if isinstance(results[0], TimeoutError):
                transport.end()

        return respond


def _buffer_size(request: Request) -> int:
    """Return how many bytes of a body the server may buffer before the application reads them."""
    length = header(request, "content-length")
    if not length and "transfer-encoding" not in request.headers:
        return 0
    return min(int(length), _MAX_BUFFER_BYTES) if length.isdecimal() else _MAX_BUFFER_BYTES


def _end_on_shutdown(request: Request, transport: HTTPTransport) -> None:
    if uvicorn := protocol_of(request.scope):
        uvicorn.on_shutdown = transport.end


def _abort(request: Request) -> None:
    if uvicorn := protocol_of(request.scope):
        uvicorn.transport.abort()


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects. Data from it is dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _accepts_events(request: Request) -> bool:
    accept = ",".join(request.headers.getlist("accept")) or "*/*"
    ranges = {media_range.partition(";")[0].strip().lower() for media_range in accept.split(",")}
    return not ranges.isdisjoint({"text/event-stream", "text/*", "*/*"})
