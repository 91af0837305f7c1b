"""From incoming messages to a handler and back: one answer for each request, whatever the handler does.

The answer is made in the done-callback of the handler's task, so that a task that never got to its first step is
answered as well (rule 13). Owns the requests in flight and how they are cancelled (rules 20 and 21).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from logging import DEBUG, WARNING, getLogger
from typing import Any

from acp_runtime.conduct import Conduct
from acp_runtime.encoding import result_line
from acp_runtime.errors import ConnectionClosed, InternalError, RequestError
from acp_runtime.failures import error_answer, wire_error
from acp_runtime.flow import Activity, Flow, activity
from acp_runtime.json_values import as_object
from acp_runtime.lanes import Lanes, Spawn
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingNotification, IncomingRequest, RequestId
from acp_runtime.methods import AnyMethod, Request
from acp_runtime.options import Options
from acp_runtime.results import build_result, is_result, is_void
from acp_runtime.roles import Handler
from acp_runtime.sides import Side

_logger = getLogger(__name__)

CANCEL_REQUEST = "$/cancel_request"
SESSION_CANCEL = "session/cancel"
_CANCELLED_TURN = b'{"stopReason":"cancelled"}'
_CANCELLED_PERMISSION = b'{"outcome":{"outcome":"cancelled"}}'


@dataclass(slots=True, eq=False)
class _Handling:
    """A request that is being handled.

    Attributes:
        turn_cancelled: the client cancelled the turn that this request is (rule 21).
        answered: the answer was sent without waiting for the handler.
    """

    message: IncomingRequest
    method: Request[Any, Any] | None
    size: int
    activity: Activity
    task: asyncio.Task[Any] = field(init=False)
    turn_cancelled: bool = False
    answered: bool = False


class Dispatcher:
    """Hands incoming messages to the handler of one side.

    Args:
        side: what is handled.
        handler: by whom.
        conduct: says what may be handled.
        flow: is told what is being handled.
        send: sends a line.
        spawn: creates a task that the connection owns.
        options: of the connection.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        conduct: Conduct,
        flow: Flow,
        send: Callable[[bytes], None],
        spawn: Spawn,
        options: Options,
    ) -> None:
        self._side = side
        self._handler = handler
        self._conduct = conduct
        self._flow = flow
        self._send = send
        self._spawn = spawn
        self._disclose = options.disclose_errors
        self._in_flight: set[_Handling] = set()
        self._by_id: dict[RequestId, list[_Handling]] = {}
        self._log = Throttle(_logger)
        self.lanes: Lanes = Lanes(self._notified, spawn, flow, options.high_water_messages, self._default)
        self.closing: bool = False

    def request(self, message: IncomingRequest, size: int) -> None:
        """Start the handler of a request of `size` bytes."""
        method = self._side.requests.get(message.method)
        if method is None:
            handle: Callable[[], Awaitable[Any]] = partial(self._handler.ext_request, message.method, message.params)
        else:
            refused = self._conduct.refuse(method, message.params)
            if refused is not None:
                self._send(error_answer(message.id, refused))
                return
            handle = partial(getattr(self._handler, method.name), message.params)
        handling = _Handling(message, method, size, Activity(ordered=False, default=self._default))
        self._in_flight.add(handling)
        self._by_id.setdefault(message.id, []).append(handling)
        self._flow.arrive(size)
        self._flow.start_runner()
        handling.task = self._spawn(_run(handling.activity, handle))
        handling.task.add_done_callback(partial(self._finished, handling))

    def notification(self, message: IncomingNotification, size: int) -> None:
        """Put a notification of `size` bytes behind those of its session."""
        method = self._side.notifications.get(message.method)
        if method is not None and self._conduct.refuse(method, message.params) is not None:
            self._log.log(WARNING, "refused", "Ignored %s: it came before initialize", message.method)
            return
        session = session_of(message.params)
        if message.method == CANCEL_REQUEST:
            self._cancel_request(message.params.request_id)
        elif message.method == SESSION_CANCEL and session is not None:
            self._mark_turns(session)
        self._flow.arrive(size)
        self.lanes.put(session, message, size)

    def answer_permissions(self, session: str) -> None:
        """Answer what the agent asks the user in a session whose turn this side has cancelled (rule 21)."""
        for handling in self._of_session("session/request_permission", session):
            if handling.method is not None and not handling.answered:
                handling.answered = True
                self._send(result_line(handling.message.id, build_result(handling.method, _CANCELLED_PERMISSION)))
                handling.task.cancel()

    def _finished(self, handling: _Handling, task: asyncio.Task[Any]) -> None:
        self._in_flight.discard(handling)
        same_id = self._by_id[handling.message.id]
        same_id.remove(handling)
        if not same_id:
            del self._by_id[handling.message.id]
        self._flow.end_activity(handling.activity)
        self._flow.end_runner()
        self._flow.leave(handling.size)
        if not handling.answered:
            self._send(self._answer(handling, task))
        elif not task.cancelled():
            task.exception()

    def _answer(self, handling: _Handling, task: asyncio.Task[Any]) -> bytes:
        try:
            return result_line(handling.message.id, self._result(handling, task))
        except (Exception, asyncio.CancelledError) as error:
            self._report(handling, error)
            return error_answer(handling.message.id, wire_error(error, disclose=self._disclose))

    def _result(self, handling: _Handling, task: asyncio.Task[Any]) -> Any:
        """What a handler's task ended with. Raises what it raised."""
        method = handling.method
        if task.cancelled() and handling.turn_cancelled and method is not None:
            return build_result(method, _CANCELLED_TURN)
        result = _outcome(task)
        if method is None:
            return result
        if result is None and is_void(method):
            result = build_result(method, b"{}")
        if not is_result(method, result):
            raise TypeError(f"The handler of {method.wire} returned {type(result).__name__}, not {method.result}.")
        return self._conduct.handled(method, handling.message.params, result)

    def _report(self, handling: _Handling, error: BaseException) -> None:
        if isinstance(error, ConnectionClosed):
            self._log.log(WARNING, "closed", "The handler of %s was ended: %s", handling.message.method, error.reason)
        elif not isinstance(error, (RequestError, asyncio.CancelledError)):
            self._log.failed(handling.message.method, error)

    async def _notified(self, message: IncomingNotification) -> None:
        """Handle one notification. Whatever its handler does, the next ones are handled as well."""
        method = self._side.notifications.get(message.method)
        try:
            if method is None:
                await self._handler.ext_notification(message.method, message.params)
            else:
                await getattr(self._handler, method.name)(message.params)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self.closing or task is None:
                raise
            task.uncancel()
            self._log.log(DEBUG, "cancelled", "The handler of %s cancelled itself", message.method)
        except (Exception, SystemExit) as error:
            self._log.failed(message.method, error)

    def _default(self, method: AnyMethod, params: Any) -> None:
        """What the base class of handlers does with a notification."""
        session = session_of(params)
        if method.wire == SESSION_CANCEL and session is not None:
            for handling in self._of_session("session/prompt", session):
                if handling.turn_cancelled:
                    handling.task.cancel()

    def _mark_turns(self, session: str) -> None:
        """Only what is in flight when the notification arrives is meant by it, not what comes before it is handled."""
        if self._side.profile.protocol_version == 1:
            for handling in self._of_session("session/prompt", session):
                handling.turn_cancelled = True

    def _cancel_request(self, id: RequestId) -> None:
        for handling in self._by_id.get(id, ()):
            handling.task.cancel()

    def _of_session(self, wire: str, session: str) -> list[_Handling]:
        return [
            handling
            for handling in self._in_flight
            if handling.message.method == wire and session_of(handling.message.params) == session
        ]


async def _run(current: Activity, handle: Callable[[], Awaitable[Any]]) -> Any:
    activity.set(current)
    try:
        return await handle()
    except SystemExit as error:
        # asyncio would stop the loop for it, and nothing in flight would be answered.
        raise InternalError() from error


def _outcome(task: asyncio.Task[Any]) -> Any:
    if task.cancelled():
        raise asyncio.CancelledError
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, Exception):
        raise error
    raise InternalError() from error


def session_of(params: Any) -> str | None:
    """The session that params belong to, None if to none."""
    fields = as_object(params)
    found = getattr(params, "session_id", None) if fields is None else fields.get("sessionId")
    return found if isinstance(found, str) else None
