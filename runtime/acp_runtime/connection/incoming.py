"""Incoming requests and notifications: which are handled, which are refused, and which wait for `initialize`.

A request goes to its handler, a notification to its session queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from logging import WARNING, getLogger
from typing import Any, NamedTuple

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.cancellation import Cancellation
from acp_runtime.connection.early_messages import EarlyMessages
from acp_runtime.connection.guards import Guards, may_come_first
from acp_runtime.connection.handler_tasks import HandlerTasks
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import Handle, InFlightRequest, session_of
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.request_handlers import RequestHandlers
from acp_runtime.connection.request_index import RequestIndex
from acp_runtime.connection.response_lines import ResponseLines, cancelled_line
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.connection.waiting_requests import WaitingRequest, WaitingRequests
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import RequestError
from acp_runtime.jsonrpc.error_responses import safe_error_line, summary
from acp_runtime.jsonrpc.messages import (
    IncomingNotification,
    IncomingRequest,
    InvalidNotification,
    Message,
    Refused,
)
from acp_runtime.jsonrpc.strict_json import parse
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import as_object
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)


class _Route(NamedTuple):
    """How the notifications of a method are handled.

    Attributes:
        method: their method.
        handle: the handler.
        profile: says which property of the params names the session.
        on_arrival: called with the params when one arrives, before it is queued.
    """

    method: Notification[Any]
    handle: Handle
    profile: Profile
    on_arrival: Callable[[Any], None] | None


class Incoming:
    """Passes incoming messages to the handler of one side.

    Args:
        side: the side that receives them.
        handler: handles them.
        initialization: the state of `initialize`.
        guards: decide which may be handled.
        backpressure: counts them, and decides which requests may start.
        queues: the session queues.
        held: notifications of this side that leave after a response.
        writer: sends responses.
        tasks: creates the tasks of handlers.
        decode: decodes a line.
        options: the options of the connection.
        is_turn_cancelled: whether this side has cancelled the turn that a request of a session belongs to.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        initialization: Initialization,
        guards: Guards,
        backpressure: Backpressure,
        queues: SessionQueues,
        held: HeldNotifications,
        writer: Writer,
        tasks: HandlerTasks,
        decode: Callable[[bytes], Message],
        options: Options,
        is_turn_cancelled: Callable[[Request[Any, Any], str | None], bool],
    ) -> None:
        self._side = side
        self._profile = side.profile
        self._handler = handler
        self._initialization = initialization
        self._guards = guards
        self._backpressure = backpressure
        self._queues = queues
        self._writer = writer
        self._decode = decode
        self._is_turn_cancelled = is_turn_cancelled
        self._running: RequestIndex[InFlightRequest] = RequestIndex()
        self._waiting = WaitingRequests(backpressure)
        self._early = EarlyMessages(backpressure)
        lines = ResponseLines(handler, initialization, guards, disclose=options.disclose_errors)
        self._cancellation = Cancellation(side, handler, self._running, self._waiting, self._early, lines, writer)
        self._requests = RequestHandlers(
            side.profile,
            handler,
            lines,
            self._running,
            self._waiting,
            backpressure,
            held,
            writer,
            tasks,
            decode,
            self._cancellation.handle_by_default,
            self._handle_early,
        )
        self._routes = {wire: self._route(method) for wire, method in side.notifications.items()}
        self._log = ThrottledLogger(_logger)

    def request(self, message: IncomingRequest, line: bytes) -> None:
        """Start the handler of a request, refuse it, or let it wait."""
        method = self._side.requests.get(message.method)
        session = session_of(self._profile if method is None else method.profile, message.params)
        if method is not None:
            if self._requests.opening and self._is_early(method):
                self._early.add_request(message.id, line)
                return
            refused = self._guards.refuse(method, message.params)
            if refused is None and method.opens:
                refused = self._initialization.refuse(message.params)
            if refused is not None:
                self._writer.answer(safe_error_line(message.id, refused))
                return
            if method.cancelled is not None and self._is_turn_cancelled(method, session):
                self._writer.answer(cancelled_line(message.id, method))
                return
        if self._waiting.in_order or not self._backpressure.may_start(len(line)):
            self._waiting.add(WaitingRequest(message.id, method, session, line))
        else:
            self._requests.start(message, method, session, len(line))

    def notification(self, message: IncomingNotification, line: bytes) -> None:
        """Add a notification to its session queue, after acting on a cancellation."""
        route = self._routes.get(message.method)
        profile = self._profile
        if route is None:
            handle: Handle = partial(self._handler.ext_notification, message.method)
        elif self._requests.opening and self._is_early(route.method):
            self._early.add_notification(line)
            return
        elif self._guards.refuse(route.method, message.params) is not None:
            self._log.log(WARNING, "refused", "Ignored %s: it was received before initialize", message.method)
            return
        else:
            handle, profile = route.handle, route.profile
            if route.on_arrival is not None:
                route.on_arrival(message.params)
        self._enqueue(message.method, session_of(profile, message.params), message.params, handle, line)

    def invalid_notification(self, message: InvalidNotification, line: bytes) -> None:
        """Log a notification with invalid params, and add it to its session queue for `invalid_notification`."""
        if self._requests.opening and self._is_early(self._side.notifications.get(message.method)):
            self._early.add_notification(line)
            return
        faults = summary(message.error.data, "params")
        self._log.log(WARNING, message.method, "The peer sent an invalid %s: %s", message.method, faults)
        handle = partial(self._handler.invalid_notification, message.method, error=message.error)
        self._enqueue(message.method, session_of(self._profile, message.params), message.params, handle, line)

    def invalid_request(self, message: Refused, line: bytes) -> None:
        """Answer a request with invalid params with an error.

        A request that opens the connection in another version of the protocol is handled. An early request is answered
        with the error for early requests instead (rule 25).
        """
        frame = as_object(parse(line)) or {}
        method = self._side.requests.get(str(frame.get("method")))
        error: RequestError | None = None
        if method is not None and method.opens:
            read = self._initialization.read_another_version(method, message.id, frame.get("params"))
            if isinstance(read, IncomingRequest):
                self.request(read, line)
                return
            error = read
        elif self._requests.opening and self._is_early(method):
            self._early.add_request(message.id, line)
            return
        elif method is not None:
            error = self._guards.refuse_early(method)
        self._writer.answer(safe_error_line(message.id, error or message.error))

    def start_waiting_soon(self) -> None:
        """Start waiting requests in the next iteration of the event loop, as far as backpressure allows."""
        self._requests.start_waiting_soon()

    def handle_by_default(self, method: AnyMethod, params: Any) -> None:
        """Do what the base class does for a notification: cancel the turns that it cancels."""
        self._cancellation.handle_by_default(method, params)

    def answer_cancelled_turn(self, wire: str, session: str) -> None:
        """Answer the peer's requests that belong to a turn which this side cancels with a notification."""
        self._cancellation.answer_cancelled_turn(wire, session)

    def cancel_all(self) -> None:
        """Cancel all requests of the peer, because the connection ends."""
        self._cancellation.cancel_all()

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks of the handlers of requests."""
        return [message.task for message in self._running if message.task is not None]

    @property
    def waiting(self) -> int:
        """The number of messages whose handling has to wait: requests beyond the high-water mark, early messages."""
        return len(self._waiting.in_order) + len(self._early)

    def _route(self, method: Notification[Any]) -> _Route:
        return _Route(
            method, getattr(self._handler, method.name), method.profile, self._cancellation.on_arrival(method)
        )

    def _is_early(self, method: AnyMethod | None) -> bool:
        """Whether a message has to wait until the request that opens the connection is answered (rule 25)."""
        if self._initialization.done or method is None:
            return False
        return not may_come_first(method) and method.side != "protocol"

    def _enqueue(self, wire: str, session: str | None, params: Any, handle: Handle, line: bytes) -> None:
        if self._backpressure.is_crowded:
            # Reading can't always pause. In a flood notifications wait as lines, which take a tenth of the memory.
            self._queues.put(session, wire, partial(self._decode_and_handle, handle), line, len(line))
        else:
            self._queues.put(session, wire, handle, params, len(line))

    async def _decode_and_handle(self, handle: Handle, line: bytes) -> None:
        message: Any = self._decode(line)
        await handle(message.params)

    def _handle_early(self) -> None:
        """Handle the early messages, unless a request that opens the connection is in flight and none has succeeded."""
        if self._requests.opening and not self._initialization.done:
            return
        for line in self._early.take_all():
            self._handle_early_line(line)

    def _handle_early_line(self, line: bytes) -> None:
        message = self._decode(line)
        if isinstance(message, IncomingRequest):
            self.request(message, line)
        elif isinstance(message, IncomingNotification):
            self.notification(message, line)
        elif isinstance(message, InvalidNotification):
            self.invalid_notification(message, line)
        elif isinstance(message, Refused):
            self.invalid_request(message, line)
