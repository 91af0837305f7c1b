"""Decodes received lines, and passes each message to the part that handles it.

A response goes to `Calls`, a request to `Requests`, a notification to its `Session`. The entries of a batch are passed
on one by one, like lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from logging import DEBUG, WARNING, getLogger
from typing import Any

from acp_runtime.connection.batch import Answers, BatchAnswers
from acp_runtime.connection.calls import Calls
from acp_runtime.connection.in_flight import Handle, InFlightNotification
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.request import InFlightRequest, Requests, cancelled_line
from acp_runtime.connection.session import Sessions
from acp_runtime.connection.state import ProtocolState, may_come_first
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import (
    ConnectionClosed,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    RequestCancelled,
    RequestError,
)
from acp_runtime.jsonrpc import messages
from acp_runtime.jsonrpc.decoding import decoder_of
from acp_runtime.jsonrpc.error_responses import safe_error_line, summary
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import InstrumentedMessage, Options
from acp_runtime.stubs.methods import AnyMethod, session_of

_ECHOED = (
    "The peer sends this side's own messages back, such as {}. Is the command an agent? A terminal in between may echo "
    "them."
)
# The messages that are answered.
_ANSWERED = (messages.IncomingRequest, messages.Refused)

_logger = getLogger(__name__)


@dataclass(eq=False, repr=False)
class Dispatch:
    """Decodes received lines, and passes on the messages, also those that are refused, postponed or invalid.

    Attributes:
        state: this side with its handler, and which messages may come.
        options: `instrument` sees each message.
        reader: knows whether more lines may come.
        limits: count the messages that are postponed.
        writer: sends the answers to messages that are refused.
        sessions, requests, calls: handle the messages.
    """

    state: ProtocolState
    options: Options
    reader: Reader
    limits: Limits
    writer: Writer
    sessions: Sessions
    requests: Requests
    calls: Calls

    def __post_init__(self) -> None:
        self._handler = self.state.handler
        self._profile = self.state.profile
        self._side = side = self.state.side.with_extensions(self._handler)
        self._default = self.requests.cancel_by_default
        self._decode = decoder_of(side).decode
        self._log = ThrottledLogger(_logger)
        # What an agent has printed to stdout before its first message; None after that, and on the agent's side.
        self._banner = "" if side.role == "client" else None
        # How many requests that open the connection are being handled, and the messages that are postponed until then,
        # with their lines, what sends their answers and the memory that they take (rule 25).
        self._opening = 0
        self._postponed: list[tuple[messages.Message, bytes, Answers, int]] = []

    def receive(self, line: bytes, message: messages.Message | None = None, answers: Answers | None = None) -> None:
        """Pass a message on to the part that handles it. Never raises.

        Args:
            line: the line, or an entry of a batch.
            message: what it was decoded as, if it was.
            answers: sends its answer; the writer by default.
        """
        if message is None:
            message = self._decode(line)
            if self._banner is not None and not isinstance(message, messages.Refused):
                self._banner = None
        if self._opening and self._must_wait(message):
            self._postpone(message, line, answers or self.writer)
            return
        # Not `isinstance`, which takes longer to say no (benchmark row `concurrent`).
        if type(message) is messages.IncomingNotification:
            self._notification(message, line)
        elif type(message) is messages.IncomingRequest:
            self._request(message, line, answers or self.writer)
        elif type(message) is messages.IncomingResponse:
            self.calls.received(message)
        elif type(message) is messages.Refused:
            self._refuse(message, line, answers or self.writer)
        elif type(message) is messages.InvalidNotification:
            self._invalid_notification(message, line)
        elif type(message) is messages.Batch:
            self._batch(message)
        else:
            self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)

    def _batch(self, batch: messages.Batch) -> None:
        """Pass on the entries of a batch, unless there are more than may wait for their handlers."""
        self.reader.was_batch = True
        if batch.size > self.options.high_water_messages:
            self._refuse_batch(f"a batch of {batch.size} messages (Options.high_water_messages)")
        elif not self.state.is_open and not self._opening and self.options.guards == "raise":
            self._early_batch(batch)
        else:
            answers = BatchAnswers(self.writer)
            for entry, message in batch.entries:
                if isinstance(message, _ANSWERED):
                    answers.expect()
                self.receive(entry, message, answers)
            answers.complete()

    def _early_batch(self, batch: messages.Batch) -> None:
        """Refuse a batch before `initialize`, after passing on the responses in it: a call may wait for one.

        If nothing in it is to be answered, its entries are passed on like lines.
        """
        entries = [*batch.entries]
        is_refused = any(isinstance(message, _ANSWERED) for _, message in entries)
        for entry, message in entries:
            if not is_refused or type(message) is messages.IncomingResponse:
                self.receive(entry, message)
        if is_refused:
            self._refuse_batch("a batch before initialize")

    def _refuse_batch(self, description: str) -> None:
        self._log.log(WARNING, "refused", "The peer sent %s", description)
        self.writer.answer(safe_error_line(None, InvalidRequest()))

    def _opening_ended(self) -> None:
        """Handle the postponed messages, unless another request may still open the connection."""
        self._opening -= 1
        if not self._opening or self.state.is_open:
            for message, line, answers, _ in self._take_postponed():
                self.receive(line, message, answers)

    def refuse_postponed(self) -> None:
        """Answer the postponed requests with an error, because the connection ends."""
        for message, _, answers, _ in self._take_postponed():
            if isinstance(message, _ANSWERED):
                answers.answer(safe_error_line(message.id, RequestCancelled()))

    def _take_postponed(self) -> list[tuple[messages.Message, bytes, Answers, int]]:
        postponed, self._postponed = self._postponed, []
        for _, _, _, size in postponed:
            self.limits.begin(size)
            self.limits.remove(size)
        return postponed

    def explain(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Return the reason why the connection ended; for an agent that only printed text, with that text."""
        if not self._banner:
            return reason
        text = f"{reason.reason} Before that it sent {self._banner}."
        return type(reason)(text, reason.exit_code, reason.stderr)

    def _request(self, message: messages.IncomingRequest, line: bytes, answers: Answers) -> None:
        """Start the handler of a request, or refuse it."""
        wire, params, on_end = message.method, message.params, None
        method = self._side.requests.get(wire)
        session = session_of(self._profile if method is None else method.profile, params)
        if method is None:
            handle: Handle = partial(self._handler.ext_request, wire)
        else:
            refused = self.state.check_incoming(method, params)
            if refused is None and method.opens:
                refused = self.state.refuse_version(getattr(params, self._profile.version_attribute))
            if refused is not None:
                answers.answer(safe_error_line(message.id, refused))
                return
            if method.cancelled is not None and self.calls.turns.is_cancelled(method, session):
                answers.answer(cancelled_line(message.id, method))
                return
            if method.opens:
                self._opening += 1
                on_end = self._opening_ended
            handle = getattr(self._handler, method.name)
        if self.options.instrument is not None:
            instrumented = InstrumentedMessage("in", wire, method, message.id, session, params)
            handle = partial(_inside, self.options.instrument, instrumented, handle)
        if method is not None and method.interactive and session is not None:
            handle = self.sessions.after_notifications(session, wire, handle, self.options.handler_deadline)
        request = InFlightRequest(
            wire=wire,
            handle=handle,
            argument=params,
            size=self.limits.memory_of(line),
            limits=self.limits,
            default=self._default,
            id=message.id,
            method=method,
            session=session,
            on_end=on_end,
            answers=answers,
        )
        self.requests.start(request)

    def _notification(self, message: messages.IncomingNotification, line: bytes) -> None:
        """Put a notification into its session, after acting on a cancellation."""
        method = self._side.notifications.get(message.method)
        if method is None:
            handle: Handle = partial(self._handler.ext_notification, message.method)
        elif (refused := self.state.check_incoming(method, message.params)) is not None:
            self._log.log(WARNING, "refused", "Ignored %s: %s", message.method, refused)
            return
        else:
            handle = getattr(self._handler, method.name)
            if message.method in self.requests.cancellations:
                self.requests.cancel_on_arrival(method, message.params)
                if self._postponed and method.side == "protocol":  # it may cancel one of them
                    self._postpone(message, line, self.writer)
                    return
        self._put(message.method, method, handle, message.params, line)

    def _invalid_notification(self, message: messages.InvalidNotification, line: bytes) -> None:
        """Log a notification with invalid params, and put it into its session for `invalid_notification`."""
        faults = summary(message.error.data, "params")
        self._log.log(WARNING, message.method, "The peer sent an invalid %s: %s", message.method, faults)
        handle = partial(self._handler.invalid_notification, message.method, error=message.error)
        method = self._side.notifications[message.method]
        self._put(message.method, method, handle, message.params, line)

    def _put(self, wire: str, method: AnyMethod | None, handle: Handle, argument: Any, line: bytes) -> None:
        session = session_of(self._profile if method is None else method.profile, argument)
        if self.options.instrument is not None:
            instrumented = InstrumentedMessage("in", wire, method, None, session, argument)
            handle = partial(_inside, self.options.instrument, instrumented, handle)
        size = self.limits.memory_of(line)
        notification = InFlightNotification(wire, handle, argument, size, self.limits, self._default)
        self.sessions.put(session, notification)

    def _refuse(self, message: messages.Refused, line: bytes, answers: Answers) -> None:
        """Answer with an error. Text that an agent prints before its first message is reported once (a banner)."""
        if message.method:
            self._invalid_request(message, line, answers)
            return
        # This side doesn't handle the method, so no agent or client sends that.
        if message.error.code == MethodNotFound.default_code and (call := self.calls.find_echoed(message.id, line)):
            self.calls.give_up(_ECHOED.format(call.wire))
            return
        # If a process died in the middle of a line, what is known of its end tells the caller more.
        if message.response_to is not None and self.reader.reason is None:
            self.calls.fail_unreadable(message.response_to, message.description)
        if message.id is None and message.error.code == ParseError.default_code:
            if self._banner:
                return
            if self._banner is not None:
                self._banner = message.description
        if message.description:
            self._log.log(WARNING, "refused", "The peer sent %s", message.description)
        answers.answer(safe_error_line(message.id, message.error))

    def _invalid_request(self, message: messages.Refused, line: bytes, answers: Answers) -> None:
        """Answer a request with invalid params with an error.

        A request that opens the connection in another version of the protocol is handled. One before `initialize` is
        answered with the error for that instead (rule 25).
        """
        method = self._side.requests[message.method]
        read: messages.IncomingRequest | RequestError | None = self.state.check_incoming(method, None)
        if method.opens:
            read = self.state.read_another_version(method, message.id, message.params)
        if isinstance(read, messages.IncomingRequest):
            self._request(read, line, answers)
        else:
            answers.answer(safe_error_line(message.id, read or message.error))

    def _must_wait(self, message: messages.Message) -> bool:
        """Return whether a message waits until the request that opens the connection is answered (rule 25)."""
        wire = getattr(message, "method", "")
        method = self._side.requests.get(wire) or self._side.notifications.get(wire)
        return method is not None and not self.state.is_open and not may_come_first(method)

    def _postpone(self, message: messages.Message, line: bytes, answers: Answers) -> None:
        size = self.limits.memory_of(line)
        self.limits.add_queued(size)
        self._postponed.append((message, line, answers, size))


async def _inside(instrument: Any, message: InstrumentedMessage, handle: Handle, argument: Any) -> Any:
    """Handle a message inside of the context manager of `Options.instrument`."""
    with instrument(message):
        return await handle(argument)
