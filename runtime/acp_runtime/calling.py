"""The calling half of a connection: what its own side sends, and the answers to that.

It is the `Channel` that proxies send through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from logging import WARNING, getLogger
from typing import Any, TypeVar

from acp_runtime.calls import Call, Calls
from acp_runtime.conduct import Conduct
from acp_runtime.dispatch import CANCEL_REQUEST, SESSION_CANCEL, session_of
from acp_runtime.encoding import notification_line, request_line
from acp_runtime.errors import ConnectionClosed, InvalidResponse, ProtocolVersionMismatch, RequestError
from acp_runtime.flow import Activity, Flow
from acp_runtime.json_values import as_object
from acp_runtime.lanes import Lanes
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingResponse
from acp_runtime.methods import Notification, Request
from acp_runtime.outbox import Outbox
from acp_runtime.results import has_field, parse_result, plain_result

P = TypeVar("P")
R = TypeVar("R")

_logger = getLogger(__name__)
# What is not known of a session any longer when these have been answered.
_END_SESSION = frozenset({"session/close", "session/delete"})


class Caller:
    """Sends calls and notifications, and gives callers their results.

    Args:
        conduct: says what may be sent.
        flow: is told who waits for the peer.
        lanes: the queues of notifications, which come before the answers of their sessions.
        outbox: where lines go.
        calls: those that have no answer yet.
        called: told of each call after it was sent.
        turn_cancelled: told of each session whose turn this side has cancelled.
        stop: ends the connection.
    """

    def __init__(
        self,
        conduct: Conduct,
        flow: Flow,
        lanes: Lanes,
        outbox: Outbox,
        calls: Calls,
        called: Callable[[], None],
        turn_cancelled: Callable[[str], None],
        stop: Callable[[ConnectionClosed], None],
    ) -> None:
        self._conduct = conduct
        self._flow = flow
        self._lanes = lanes
        self._outbox = outbox
        self._calls = calls
        self._called = called
        self._turn_cancelled = turn_cancelled
        self._stop = stop
        self._closed: ConnectionClosed | None = None
        self._loop = asyncio.get_running_loop()
        self._log = Throttle(_logger)

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
        self._send_notification(method.wire, params)
        if method.wire == SESSION_CANCEL:
            session = session_of(params)
            if session is not None:
                self._turn_cancelled(session)
        if self._outbox.is_full:
            await self._drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._send_notification(method, params)
        if self._outbox.is_full:
            await self._drain()

    def close(self, reason: ConnectionClosed) -> None:
        """No answer will come anymore. Notifications may still be sent."""
        self._closed = reason
        self._calls.fail_all(reason)

    def _send_notification(self, wire: str, params: Any) -> None:
        if self._outbox.broken or self._lanes.closing:
            closed = self._closed or ConnectionClosed("The peer no longer reads.")
            raise type(closed)(*closed.args)
        self._outbox.send(notification_line(wire, params))

    async def _drain(self) -> None:
        waiting = self._flow.wait()
        try:
            await self._outbox.drain()
        finally:
            self._flow.end_wait(waiting)

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        if self._closed is not None:
            raise type(self._closed)(*self._closed.args)
        self._outbox.send(request_line(self._calls.next_id, wire, params), alone=not self._calls.waiting)
        caller = self._flow.wait()
        call = self._new_call(wire, method, params, caller)
        try:
            if self._outbox.is_full:
                await self._outbox.drain()
            return await call.future
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        finally:
            self._flow.end_wait(caller)

    def _new_call(self, wire: str, method: Request[Any, Any] | None, params: Any, caller: Activity | None) -> Call:
        """Be ready for the answer to a request that was sent."""
        session = session_of(params)
        announces = method is not None and _announces(method)
        call = Call(self._calls.next_id, wire, method, params, session, self._loop.create_future(), caller, announces)
        self._calls.add(call)
        if announces:
            self._lanes.expect_announcement()
        if session is not None:
            self._lanes.know(session)
        self._called()
        return call

    def _give_up(self, call: Call) -> None:
        if self._calls.give_up(call):
            self._outbox.send(notification_line(CANCEL_REQUEST, {"requestId": call.id}))
            if call.announces:
                self._lanes.announced(None)

    def answered(self, message: IncomingResponse) -> None:
        """Give a caller what the peer has answered."""
        call = self._calls.answered(message.id)
        if call is None:
            if not self._calls.was_given_up(message.id):
                self._log.log(WARNING, "answer", "Ignored an answer to no call of this side, id %s", message.id)
            return
        session: str | None = None
        try:
            result = self._result(call, message)
            session = session_of(result) if call.announces else None
            self._deliver(call, call.resolve, result)
        except (RequestError, InvalidResponse) as error:
            self._deliver(call, call.fail, error)
        except ProtocolVersionMismatch as error:
            call.fail(error)
            self._stop(ConnectionClosed(f"{error}."))
        if call.announces:
            self._lanes.announced(session)
        elif call.wire in _END_SESSION and call.session is not None:
            self._lanes.forget(call.session)

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
            return plain_result(message)
        result = parse_result(method, message)
        self._conduct.answered(method, call.params, result)
        return result

    def _deliver(self, call: Call, hand_over: Callable[[Any], None], what: Any) -> None:
        """Resolve a caller after the notifications that came before its answer, unless it is one of them (rule 16)."""
        caller = call.caller
        if call.session is None or (caller is not None and caller.ordered and not caller.done):
            hand_over(what)
        else:
            self._lanes.after(call.session, lambda: hand_over(what))


def _peer_error(wire: str, error: Any) -> RequestError:
    """The error in an answer. Raises InvalidResponse if it is none."""
    body = as_object(error) or {}
    code, message = body.get("code"), body.get("message")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
    return RequestError.of(code, message, body.get("data"))


@cache
def _announces(method: Request[Any, Any]) -> bool:
    return has_field(method, "session_id")
