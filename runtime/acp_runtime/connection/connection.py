"""A connection: makes its parts, and passes each received message to the part that handles it.

A message comes from the reader as a line. `Dispatch` decodes it: a response goes to `Calls`, a request to `Requests`,
a notification to its `Session`. What proxies send goes through `Channel` to the writer. The parts know the connection,
and find each other through it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from functools import partial
from logging import DEBUG, WARNING, getLogger
from typing import Any, TypeAlias

from acp_runtime.connection.call import Calls
from acp_runtime.connection.channel import Channel, InstrumentedChannel
from acp_runtime.connection.guards import Guards, Initialization, may_come_first
from acp_runtime.connection.handler import MODEL_BYTES, Handle, frame_observer, inside, session_of
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.request import Requests, cancelled_line
from acp_runtime.connection.session import Notification, Sessions
from acp_runtime.connection.transport import ByteSource, ByteWriter, PeerProcess
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, ParseError, RequestCancelled, RequestError
from acp_runtime.jsonrpc.decoding import decoder_of
from acp_runtime.jsonrpc.error_responses import safe_error_line, summary
from acp_runtime.jsonrpc.messages import (
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Message,
    Refused,
)
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import InstrumentedMessage, Options
from acp_runtime.stubs.methods import Profile
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

Ended: TypeAlias = Callable[["asyncio.Task[None]"], object]

_logger = getLogger(__name__)


class Connection:
    """One side of a connection.

    Args:
        side: the side, with the methods that it handles.
        factory: makes the handler, given the proxy for the other side.
        source: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: the options of the connection.
        process: the subprocess at the other end, if there is one.

    Raises:
        BaseException: what the factory raises; the writer is closed then.

    Attributes:
        remote: the proxy for the other side.
        handler: handles this side's methods; None until the factory has made it.
        closed: done when everything has ended, with the reason.
        stopped: done when this side wants to end the connection, with the reason.
        tasks: those of handlers that have not ended, and what to call then.
        is_hurried: whether the closing of the connection was cancelled, so that it hardly waits any longer.
        process_id: this process, and not a child that it forks.
    """

    def __init__(
        self,
        side: Side[Any],
        factory: Callable[[Any], Handler],
        source: ByteSource,
        writer: ByteWriter,
        options: Options,
        process: PeerProcess | None = None,
    ) -> None:
        self.options: Options = options
        self.process: PeerProcess | None = process
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.closed: asyncio.Future[ConnectionClosed] = self.loop.create_future()
        self.stopped: asyncio.Future[ConnectionClosed] = self.loop.create_future()
        self.is_hurried: bool = False
        self.process_id: int = os.getpid()
        self.tasks: dict[asyncio.Task[None], Ended] = {}
        self._context = copy_context()
        self.writer: Writer = Writer(writer, options, self._write_failed)
        self.reader: Reader = Reader(self, source)
        self.limits: Limits = Limits(options, self.reader.resume_soon)
        try:
            self.begin(side, factory)
        except BaseException:
            writer.abort()
            raise
        source.start(self.reader)

    def begin(self, side: Side[Any], factory: Callable[[Any], Handler]) -> None:
        """Make the parts that depend on the side, and the handler. May be called again before any message was handled.

        Raises:
            BaseException: what the factory raises.
        """
        self.side: Side[Any] = side
        self.profile: Profile = side.profile
        self.initialization: Initialization = Initialization(side, self.options)
        self.guards: Guards = Guards(self.initialization, self.options)
        self.sessions: Sessions = Sessions(self)
        self.requests: Requests = Requests(self)
        self.calls: Calls = Calls(self)
        self.channel: Channel = Channel(self) if self.options.instrument is None else InstrumentedChannel(self)
        self.remote: Any = side.remote(self.channel)
        self.handler: Any = None
        self.handler = side.make_handler(factory, self.remote)
        self.dispatch: Dispatch = Dispatch(self)

    def create_task(self, coroutine: Coroutine[Any, Any, None], ended: Ended = lambda _: None) -> asyncio.Task[None]:
        """Create a task that starts in a later iteration of the event loop. Call `ended` with it when it has ended."""
        # Handlers must not inherit the context variables of the code that lets them start. An eager task factory must
        # not run them here (Python 3.12): their sessions and requests are not complete yet.
        task = asyncio.Task(coroutine, loop=self.loop, context=self._context.copy())
        self.tasks[task] = ended
        task.add_done_callback(self._task_ended)
        return task

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.pop(task)(task)
        # Looked at, so that asyncio doesn't log a KeyboardInterrupt as well, which has left the event loop.
        if not task.cancelled() and (error := task.exception()) and isinstance(error, Exception):
            raise error

    def stop(self, reason: str = "The connection was closed by this side.") -> None:
        """End the connection from this side."""
        if not self.stopped.done():
            self.stopped.set_result(ConnectionClosed(reason))

    def end_calls(self, reason: ConnectionClosed) -> None:
        """Fail all calls, pending and future. Notifications may still be sent."""
        self.channel.closed = reason
        self.calls.close(reason)

    def answer(self, line: bytes, *, flush: bool = False) -> None:
        """Send an answer. One that the peer doesn't read counts, so that a peer that never reads is a flood at last."""
        self.writer.send(line, flush=flush)
        if self.writer.is_full and not self.reader.finished.done():
            self.limits.add(size := len(line) + MODEL_BYTES)
            self.create_task(self.writer.drain(), lambda _: self.limits.remove(size))

    def _write_failed(self, error: OSError) -> None:
        if not self.reader.finished.done():  # otherwise the peer has left, and what it sent is being handled
            self.stop(f"Writing to the peer failed: {error}.")


class Dispatch:
    """Decodes received lines, and passes on the messages: those that are refused, early or invalid as well.

    Args:
        connection: has the parts that handle the messages.

    Attributes:
        early: messages received while `initialize` is being handled, with their lines. They wait for its end (rule 25).
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._side = side = connection.side.with_extensions(connection.handler)
        self._decode = decoder_of(side).decode
        self._observe = frame_observer(connection.options)
        self._log = ThrottledLogger(_logger)
        # Only agents print text to stdout before their first message.
        self._has_spoken = side.role == "agent"
        self._banner = ""
        self.early: list[tuple[Message, bytes]] = []

    def receive(self, lines: list[bytes]) -> None:
        """Decode lines and pass the messages on. Never raises."""
        for line in lines:
            if self._observe is not None:
                self._observe("in", line)
            message = self._decode(line)
            self._dispatch(message, line)
            if not self._has_spoken:
                self._has_spoken = not isinstance(message, Refused)

    def handle_early(self) -> None:
        """Handle the early messages, unless a request that opens the connection is in flight and none has succeeded."""
        if self._connection.requests.opening and not self._connection.initialization.done:
            return
        for message, line in self._take_early():
            self._dispatch(message, line)

    def refuse_early(self) -> None:
        """Answer the early requests with an error, because the connection ends."""
        for message, _ in self._take_early():
            if isinstance(message, (IncomingRequest, Refused)):
                self._connection.answer(safe_error_line(message.id, RequestCancelled()))

    def _take_early(self) -> list[tuple[Message, bytes]]:
        early, self.early = self.early, []
        for _, line in early:
            self._connection.limits.begin(len(line) + MODEL_BYTES)
            self._connection.limits.remove(len(line) + MODEL_BYTES)
        return early

    def explain(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Return the reason why the connection ended; for an agent that only printed text, with that text."""
        if not self._banner or self._has_spoken:
            return reason
        text = f"{reason.reason} Before that it sent {self._banner}."
        return type(reason)(text, reason.exit_code, reason.stderr)

    def _dispatch(self, message: Message, line: bytes) -> None:
        if self._connection.requests.opening and self._is_early(message):
            self._put_early(message, line)
            return
        # Not `isinstance`, which takes longer to say no (benchmark row `concurrent`).
        if type(message) is IncomingNotification:
            self._notification(message, line)
        elif type(message) is IncomingRequest:
            self._request(message, line)
        elif type(message) is IncomingResponse:
            self._connection.calls.received(message)
        elif type(message) is Refused:
            self._refuse(message, line)
        elif type(message) is InvalidNotification:
            self._invalid_notification(message, line)
        else:
            self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)

    def _request(self, message: IncomingRequest, line: bytes) -> None:
        """Start the handler of a request, refuse it, or let it wait for `initialize`."""
        connection, method = self._connection, self._side.requests.get(message.method)
        session = session_of(connection.profile if method is None else method.profile, message.params)
        if method is not None:
            refused = connection.guards.refuse(method, message.params)
            if refused is None and method.opens:
                refused = connection.initialization.refuse(getattr(message.params, method.profile.version_attribute))
            if refused is not None:
                connection.answer(safe_error_line(message.id, refused))
                return
            if method.cancelled is not None and connection.calls.is_in_cancelled_turn(method, session):
                connection.answer(cancelled_line(message.id, method))
                return
        connection.requests.start(message, method, session, len(line))

    def _notification(self, message: IncomingNotification, line: bytes) -> None:
        """Put a notification into its session, after acting on a cancellation."""
        connection, method = self._connection, self._side.notifications.get(message.method)
        profile = connection.profile
        if method is None:
            handle: Handle = partial(connection.handler.ext_notification, message.method)
        elif connection.guards.refuse(method, message.params) is not None:
            self._log.log(WARNING, "refused", "Ignored %s: it was received before initialize", message.method)
            return
        else:
            handle, profile = getattr(connection.handler, method.name), method.profile
            if message.method in connection.requests.cancellations:
                connection.requests.cancel_on_arrival(method, message.params)
                if self.early and method.side == "protocol":  # it may cancel one of them
                    self._put_early(message, line)
                    return
        self._put(session_of(profile, message.params), message.method, handle, message.params, len(line))

    def _invalid_notification(self, message: InvalidNotification, line: bytes) -> None:
        """Log a notification with invalid params, and put it into its session for `invalid_notification`."""
        faults = summary(message.error.data, "params")
        self._log.log(WARNING, message.method, "The peer sent an invalid %s: %s", message.method, faults)
        handle = partial(self._connection.handler.invalid_notification, message.method, error=message.error)
        session = session_of(self._connection.profile, message.params)
        self._put(session, message.method, handle, message.params, len(line))

    def _put(self, session: str | None, wire: str, handle: Handle, argument: Any, length: int) -> None:
        if self._connection.options.instrument is not None:
            about = InstrumentedMessage("in", wire, self._side.notifications.get(wire), None, session, argument)
            handle = partial(inside, self._connection.options.instrument, about, handle)
        notification = Notification(self._connection, wire, handle, argument, length)
        self._connection.sessions.get(session).put(notification)

    def _refuse(self, message: Refused, line: bytes) -> None:
        """Answer with an error. Text that an agent prints before its first message is reported once (a banner)."""
        if message.method:
            self._invalid_request(message, line)
            return
        # If a process died in the middle of a line, what is known of its end tells the caller more.
        if message.response_to is not None and self._connection.reader.reason is None:
            self._connection.calls.fail_unreadable(message.response_to, message.description)
        if message.id is None and message.error.code == ParseError.default_code:
            if not self._has_spoken and self._banner:
                return
            self._banner = self._banner or message.description
        if message.description:
            self._log.log(WARNING, "refused", "The peer sent %s", message.description)
        self._connection.answer(safe_error_line(message.id, message.error))

    def _invalid_request(self, message: Refused, line: bytes) -> None:
        """Answer a request with invalid params with an error.

        A request that opens the connection in another version of the protocol is handled. One before `initialize` is
        answered with the error for that instead (rule 25).
        """
        connection, method = self._connection, self._side.requests.get(message.method)
        error: RequestError | None = None
        if method is not None and method.opens:
            read = connection.initialization.read_another_version(method, message.id, message.params)
            if isinstance(read, IncomingRequest):
                self._request(read, line)
                return
            error = read
        elif method is not None:
            error = connection.guards.refuse(method, None)
        connection.answer(safe_error_line(message.id, error or message.error))

    def _is_early(self, message: Message) -> bool:
        """Whether a message waits until the request that is opening the connection is answered (rule 25)."""
        name = getattr(message, "method", "")
        method = self._side.requests.get(name) or self._side.notifications.get(name)
        return method is not None and not self._connection.initialization.done and not may_come_first(method)

    def _put_early(self, message: Message, line: bytes) -> None:
        self._connection.limits.add_waiting(len(line) + MODEL_BYTES)
        self.early.append((message, line))
