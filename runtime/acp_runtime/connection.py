"""A connection: JSON-RPC both ways over a pair of byte streams, run on asyncio.

Reads lines, has them understood and hands them on; sends what its own side calls and answers. It is the `Channel` that
proxies send through. Every task it starts is its own, and ended when it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from logging import DEBUG, WARNING, getLogger
from time import monotonic
from typing import Any, TypeVar

from pydantic_core import from_json

from acp_runtime.calls import Call, Calls
from acp_runtime.conduct import Conduct
from acp_runtime.decoding import Decoder
from acp_runtime.dispatch import CANCEL_REQUEST, SESSION_CANCEL, Dispatcher, session_of
from acp_runtime.encoding import notification_line, request_line
from acp_runtime.errors import ConnectionClosed, InvalidResponse, ProtocolVersionMismatch, RequestError
from acp_runtime.failures import error_answer
from acp_runtime.flow import Flow
from acp_runtime.framing import LineReader
from acp_runtime.json_values import as_object
from acp_runtime.logs import Throttle, printable
from acp_runtime.messages import Ignored, IncomingNotification, IncomingRequest, IncomingResponse, Refused
from acp_runtime.methods import Notification, Request
from acp_runtime.options import Options
from acp_runtime.outbox import ByteReader, ByteWriter, Outbox
from acp_runtime.results import has_field, parse_result
from acp_runtime.roles import Handler
from acp_runtime.sides import Side

P = TypeVar("P")
R = TypeVar("R")
WhyClosed = Callable[[ConnectionClosed], Awaitable[ConnectionClosed]]

_logger = getLogger(__name__)
_CHUNK = 256 * 1024


class Connection:
    """One side of a connection.

    Args:
        side: which one, with everything it handles.
        factory: makes the handler; gets the proxy for the other side.
        reader: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: how it behaves.
        why_closed: adds to the reason when the peer has gone, such as an exit code.
    """

    def __init__(
        self,
        side: Side[Any],
        factory: Callable[[Any], Handler],
        reader: ByteReader,
        writer: ByteWriter,
        options: Options,
        why_closed: WhyClosed | None = None,
    ) -> None:
        self._options = options
        self._on_frame = options.on_frame
        self._reader = reader
        self._why_closed = why_closed
        self._decoder = Decoder(side.requests, side.notifications)
        self._lines = LineReader(options.max_message_bytes)
        self._flow = Flow(options)
        self._calls = Calls()
        self._conduct = Conduct(side.profile, options)
        self._outbox = Outbox(writer, options.write_high_water_bytes, self._write_failed)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed: ConnectionClosed | None = None
        self._stop: asyncio.Future[ConnectionClosed] = asyncio.get_running_loop().create_future()
        self._called: asyncio.Future[None] | None = None
        self._log = Throttle(_logger)
        self._understood = side.role == "agent"
        self.garbage: bytes = b""
        self.remote: Any = side.remote(self)
        handler = factory(self.remote)
        self._dispatcher = Dispatcher(side, handler, self._conduct, self._flow, self._answer_with, self._spawn, options)
        self._lanes = self._dispatcher.lanes

    async def run(self) -> ConnectionClosed:
        """Run until the peer closes its side or `stop` is called. Cancelling it closes the connection, too.

        Returns:
            Why it ended.
        """
        reading = asyncio.create_task(self._read(), name="acp-read")
        grace = 0.0
        reason = ConnectionClosed("The connection was closed by this side.")
        try:
            await asyncio.wait({reading, self._stop}, return_when=asyncio.FIRST_COMPLETED)
            if self._outbox.broken and not reading.done():
                # What the peer sent before it stopped reading still counts.
                await asyncio.wait({reading}, timeout=self._options.eof_grace)
            reason = reading.result() if reading.done() else self._stop.result()
            grace = self._options.eof_grace if reading.done() or self._outbox.broken else 0.0
        finally:
            await _cancelled(reading)
            await self._shut(reason, grace)
        return self._closed or reason

    def stop(self, reason: ConnectionClosed) -> None:
        """End the connection from this side."""
        if not self._stop.done():
            self._stop.set_result(reason)

    async def request(self, method: Request[P, R], params: P) -> R:
        """Send a request and wait for its result.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RequestError: if the peer answered with an error.
            InvalidResponse: if the peer's answer is none.
            ConnectionClosed: if there will be no answer.
            ProtocolVersionMismatch: if the peer wants another version.
        """
        self._conduct.before_call(method, params)
        result: R = await self._call(method.wire, method, params)
        return result

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification; waits while the peer doesn't read.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            ConnectionClosed: if it can't be sent.
            PydanticSerializationError: if the params are not what their type says; nothing was sent.
        """
        self._conduct.before_call(method, params)
        self._check_writable()
        self._send(notification_line(method.wire, params))
        if method.wire == SESSION_CANCEL:
            session = session_of(params)
            if session is not None:
                self._dispatcher.answer_permissions(session)
        if self._outbox.is_full():
            with self._flow.waiting():
                await self._outbox.drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._check_writable()
        self._send(notification_line(method, params))
        if self._outbox.is_full():
            with self._flow.waiting():
                await self._outbox.drain()

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        if self._closed is not None:
            raise type(self._closed)(*self._closed.args)
        session = session_of(params)
        announces = method is not None and _announces(method)
        with self._flow.waiting() as caller:
            call = self._calls.add(wire, method, session, caller, announces)
            try:
                self._send(request_line(call.id, wire, params))
                if self._called is not None and not self._called.done():
                    self._called.set_result(None)
            except BaseException:
                self._calls.give_up(call)
                raise
            if announces:
                self._lanes.expect_announcement()
            if session is not None:
                self._lanes.know(session)
            return await self._answer(call)

    async def _answer(self, call: Call) -> Any:
        try:
            if self._outbox.is_full():
                await self._outbox.drain()
            return await call.future
        except asyncio.CancelledError:
            if self._calls.give_up(call):
                self._send(notification_line(CANCEL_REQUEST, {"requestId": call.id}))
                if call.announces:
                    self._lanes.announced(None)
            raise

    async def _read(self) -> ConnectionClosed:
        """Hand on what the peer sends, until it stops. Gives the reason."""
        try:
            while chunk := await self._reader.read(_CHUNK):
                for line in self._lines.feed(chunk):
                    self._receive(line)
                    if self._flow.must_pause or self._is_unread(1):
                        await self._pause()
                    if self._flow.flooded or self._is_unread(self._options.flood_factor):
                        return ConnectionClosed("The peer sent more than can be handled while it owed answers.")
            for line in self._lines.end():
                self._receive(line)
        except ConnectionClosed as error:
            return error
        except OSError as error:
            return ConnectionClosed(f"Reading from the peer failed: {error}.")
        return ConnectionClosed("The peer closed the connection.")

    async def _pause(self) -> None:
        # A peer that owes an answer may be waiting likewise, for this side to read what it has answered.
        while self._is_unread(1) and not self._calls.waiting and not self._outbox.broken:
            await self._drained_or_called()
        if self._flow.must_pause:
            await self._flow.resumed()

    async def _drained_or_called(self) -> None:
        self._called = asyncio.get_running_loop().create_future()
        draining = asyncio.create_task(self._outbox.drain())
        try:
            await asyncio.wait({draining, self._called}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._called = None
            await _cancelled(draining)

    def _is_unread(self, factor: int) -> bool:
        """Whether the peer has left this many times of what it may leave of its answers."""
        limit = self._options.unread_answer_bytes * factor
        return self._outbox.unwritten > limit and self._outbox.unread_answers > limit

    def _receive(self, line: bytes) -> None:
        if self._on_frame is not None:
            self._on_frame("in", line, monotonic())
        message = self._decoder.decode(line)
        match message:
            case IncomingNotification():
                self._dispatcher.notification(message, len(line))
            case IncomingResponse():
                self._response(message)
            case IncomingRequest():
                self._dispatcher.request(message, len(line))
            case Refused():
                self._refused(message, line)
                return
            case Ignored():
                self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)
        self._understood = True

    def _refused(self, message: Refused, line: bytes) -> None:
        """Answer what can't be handled. What an agent prints before its first message is reported once (a banner)."""
        if message.id is None and message.error.code == -32700:
            if not self._understood and self.garbage:
                return
            self.garbage = self.garbage or line[:200]
            self._log.log(WARNING, "garbage", "The peer sent a line that is not JSON: %s", line[:200])
        self._answer_with(error_answer(message.id, message.error))

    def _response(self, message: IncomingResponse) -> None:
        call = self._calls.answered(message.id)
        if call is None:
            if not self._calls.was_given_up(message.id):
                self._log.log(WARNING, "answer", "Ignored an answer to no call of this side, id %s", message.id)
            return
        session: str | None = None
        try:
            result = self._result(call, message)
            session = session_of(result) if call.announces else None
            self._deliver(call, lambda: call.resolve(result))
        except (RequestError, InvalidResponse) as error:
            failure = error
            self._deliver(call, lambda: call.fail(failure))
        except ProtocolVersionMismatch as error:
            call.fail(error)
            self.stop(ConnectionClosed(f"{error}."))
        if call.announces:
            self._lanes.announced(session)

    def _result(self, call: Call, message: IncomingResponse) -> Any:
        if message.fault:
            raise InvalidResponse(call.wire, message.fault)
        method = call.method
        if message.failed:
            error = _peer_error(call.wire, message.error)
            excused = None if method is None else self._conduct.excuse(method, error)
            if excused is None:
                raise error
            return excused
        if method is None:
            return from_json(message.line)["result"]
        result = parse_result(method, message)
        self._conduct.answered(method, result)
        return result

    def _deliver(self, call: Call, callback: Callable[[], None]) -> None:
        """Resolve a caller after the notifications that came before its answer, unless it is one of them (rule 16)."""
        caller = call.caller
        if call.session is None or (caller is not None and caller.ordered and not caller.done):
            callback()
        else:
            self._lanes.after(call.session, callback)

    def _send(self, line: bytes) -> None:
        if self._on_frame is not None:
            self._on_frame("out", line[:-1], monotonic())
        self._outbox.send(line)

    def _answer_with(self, line: bytes) -> None:
        if self._on_frame is not None:
            self._on_frame("out", line[:-1], monotonic())
        self._outbox.answer(line)

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _write_failed(self, error: OSError) -> None:
        self.stop(ConnectionClosed(f"Writing to the peer failed: {error}."))

    def _check_writable(self) -> None:
        if self._outbox.broken or self._dispatcher.closing:
            closed = self._closed or ConnectionClosed("The peer no longer reads.")
            raise type(closed)(*closed.args)

    async def _shut(self, reason: ConnectionClosed, grace: float) -> None:
        """End everything: calls, handlers (after `grace` seconds), then the stream, each with its deadline."""
        if grace and self._why_closed is not None:
            reason = await self._why_closed(reason)
        if self.garbage and not self._understood:
            explained = f"{reason.reason} It had sent: {printable(self.garbage)}"
            reason = type(reason)(explained, reason.exit_code, reason.stderr)
        self._closed = reason
        self._calls.fail_all(reason)
        if self._tasks and grace:
            await asyncio.wait(self._tasks, timeout=grace)
        self._dispatcher.closing = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=self._options.handler_deadline)
            for task in left:
                _logger.error("A handler did not end when it was cancelled: %r", task)
        await self._outbox.close(self._options.flush_deadline)


def _peer_error(wire: str, error: Any) -> RequestError:
    """The error in an answer. Raises InvalidResponse if it is none."""
    body = as_object(error) or {}
    code, message = body.get("code"), body.get("message")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
    return RequestError.of(code, message, body.get("data"))


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait({task})


@cache
def _announces(method: Request[Any, Any]) -> bool:
    return has_field(method, "session_id")
