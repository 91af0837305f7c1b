"""From incoming messages to a handler and back: one answer for each request, whatever the handler does.

The answer is made at the end of the handler's own task. A task that never gets there, because it was cancelled before
its first step, is answered in its done-callback (rule 13). Owns the requests in flight and how they are cancelled
(rules 20 and 21).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from logging import WARNING, getLogger
from typing import Any

from acp_runtime.conduct import Conduct
from acp_runtime.encoding import result_line
from acp_runtime.errors import ConnectionClosed, RequestError
from acp_runtime.failures import error_answer, wire_error
from acp_runtime.flow import Flow, activity
from acp_runtime.forks import leave_if_forked
from acp_runtime.lanes import Lanes, Spawn
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingNotification, IncomingRequest, Message, RequestId
from acp_runtime.methods import AnyMethod, Notification, Request
from acp_runtime.options import Options
from acp_runtime.outbox import Outbox
from acp_runtime.results import build_result, is_result, is_void
from acp_runtime.roles import Handler
from acp_runtime.sides import Side

_logger = getLogger(__name__)

CANCEL_REQUEST = "$/cancel_request"
SESSION_CANCEL = "session/cancel"
_CANCELLED_TURN = b'{"stopReason":"cancelled"}'
_CANCELLED_PERMISSION = b'{"outcome":{"outcome":"cancelled"}}'


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is known of a notification's method before one comes.

    Attributes:
        handle: the handler.
        at_once: what is done about it before it is its turn.
    """

    method: Notification[Any]
    handle: Callable[[Any], Awaitable[Any]]
    at_once: Callable[[Any], None] | None


class Dispatcher:
    """Hands incoming messages to the handler of one side.

    Args:
        side: what is handled.
        handler: by whom.
        conduct: says what may be handled.
        flow: is told what is being handled.
        lanes: the queues of notifications.
        outbox: where answers go.
        spawn: creates a task that the connection owns, and tells of its end.
        decode: understands a line.
        options: of the connection.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        conduct: Conduct,
        flow: Flow,
        lanes: Lanes,
        outbox: Outbox,
        spawn: Spawn,
        decode: Callable[[bytes], Message],
        options: Options,
    ) -> None:
        self._decode = decode
        self._made_in = os.getpid()
        self._side = side
        self._handler = handler
        self._conduct = conduct
        self._flow = flow
        self._lanes = lanes
        self._outbox = outbox
        self._spawn = spawn
        self._disclose = options.disclose_errors
        self._in_flight: dict[RequestId, list[IncomingRequest]] = {}
        at_once = {CANCEL_REQUEST: self._cancel_request, SESSION_CANCEL: self._mark_turns}
        self._taken = {
            wire: _Taken(method, getattr(handler, method.name), at_once.get(wire))
            for wire, method in side.notifications.items()
        }
        self._log = Throttle(_logger)

    def request(self, message: IncomingRequest, size: int) -> None:
        """Start the handler of a request of `size` bytes."""
        method = self._side.requests.get(message.method)
        if method is None:
            handle: Callable[[Any], Awaitable[Any]] = partial(self._handler.ext_request, message.method)
        else:
            refused = self._conduct.refuse(method, message.params)
            if refused is not None:
                self._outbox.answer(error_answer(message.id, refused))
                return
            handle = getattr(self._handler, method.name)
        message.default = self._default
        message.task, message.turn_cancelled, message.answered = None, False, False
        self._in_flight.setdefault(message.id, []).append(message)
        self._flow.arrive(message, size)
        self._flow.start_runner()
        message.task = self._spawn(self._handle(message, method, handle), partial(self._ended, message))

    def notification(self, message: IncomingNotification, line: bytes) -> None:
        """Put a notification behind those of its session. `line` is what it was made of."""
        taken = self._taken.get(message.method)
        if taken is None:
            message.handle = partial(self._handler.ext_notification, message.method)
        elif self._conduct.refuse(taken.method, message.params) is None:
            message.handle = taken.handle
            if taken.at_once is not None:
                taken.at_once(message.params)
        else:
            self._log.log(WARNING, "refused", "Ignored %s: it came before initialize", message.method)
            return
        message.default = self._default
        session = session_of(message.params)
        if self._flow.arrive(message, len(line)):
            # Reading can't always pause: what comes in a flood is kept as it came, which takes a tenth of the memory.
            message.handle, message.params = partial(self._handle_line, message.handle), line
        self._lanes.put(session, message)

    def answer_permissions(self, session: str) -> None:
        """Answer what the agent asks the user in a session whose turn this side has cancelled (rule 21)."""
        method = self._side.requests.get("session/request_permission")
        for message in self._of_session("session/request_permission", session):
            if method is not None and not message.answered:
                message.answered = True
                self._outbox.answer(result_line(message.id, build_result(method, _CANCELLED_PERMISSION)))
                _cancel(message)

    async def _handle_line(self, handle: Callable[[Any], Awaitable[Any]], line: bytes) -> None:
        message: Any = self._decode(line)
        await handle(message.params)

    async def _handle(
        self, message: IncomingRequest, method: Request[Any, Any] | None, handle: Callable[[Any], Awaitable[Any]]
    ) -> None:
        activity.set(message)
        try:
            line = self._result(message, method, await handle(message.params))
        # SystemExit, too: asyncio would stop the loop for it, and nothing in flight would be answered.
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            leave_if_forked(self._made_in, error)
            line = self._error(message, error)
        self._finish(message, line)

    def _ended(self, message: IncomingRequest, task: asyncio.Task[None]) -> None:
        if message.done:
            return
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._finish(message, self._error(message, error or asyncio.CancelledError()))

    def _finish(self, message: IncomingRequest, line: bytes) -> None:
        # The task's context holds the message: together they would wait for Python's garbage collector.
        message.task = None
        same_id = self._in_flight[message.id]
        same_id.remove(message)
        if not same_id:
            del self._in_flight[message.id]
        self._flow.leave(message)
        self._flow.end_runner()
        if not message.answered:
            self._outbox.answer(line, alone=not self._in_flight)

    def _result(self, message: IncomingRequest, method: Request[Any, Any] | None, result: Any) -> bytes:
        """The answer to a request whose handler returned something."""
        if method is not None:
            if result is None and is_void(method):
                result = build_result(method, b"{}")
            if not is_result(method, result):
                raise TypeError(f"The handler of {method.wire} returned {type(result).__name__}, not {method.result}.")
            result = self._conduct.handled(method, message.params, result)
        return result_line(message.id, result)

    def _error(self, message: IncomingRequest, error: BaseException) -> bytes:
        """The answer to a request whose handler raised something."""
        if isinstance(error, asyncio.CancelledError) and message.turn_cancelled:
            return result_line(message.id, build_result(self._side.requests[message.method], _CANCELLED_TURN))
        if isinstance(error, ConnectionClosed):
            self._log.log(WARNING, "closed", "The handler of %s was ended: %s", message.method, error.reason)
        elif not isinstance(error, (RequestError, asyncio.CancelledError)) and not message.answered:
            self._log.failed(message.method, error)
        return error_answer(message.id, wire_error(error, disclose=self._disclose))

    def _default(self, method: AnyMethod, params: Any) -> None:
        """What the base class of handlers does with a notification."""
        if method.wire == SESSION_CANCEL:
            for message in self._of_session("session/prompt", session_of(params)):
                if message.turn_cancelled:
                    _cancel(message)

    def _mark_turns(self, params: Any) -> None:
        """Only what is in flight when the notification arrives is meant by it, not what comes before it is handled."""
        if self._side.profile.protocol_version == 1:
            for message in self._of_session("session/prompt", session_of(params)):
                message.turn_cancelled = True

    def _cancel_request(self, params: Any) -> None:
        for message in self._in_flight.get(params.request_id, ()):
            _cancel(message)

    def _of_session(self, wire: str, session: str | None) -> list[IncomingRequest]:
        return [
            message
            for same_id in self._in_flight.values()
            for message in same_id
            if session is not None and message.method == wire and session_of(message.params) == session
        ]


def _cancel(message: IncomingRequest) -> None:
    if message.task is not None:
        message.task.cancel()


def session_of(params: Any) -> str | None:
    """The session that params belong to, None if to none."""
    found = params.get("sessionId") if params.__class__ is dict else getattr(params, "session_id", None)
    return found if isinstance(found, str) else None
