"""The calls of this side: requests that the peer answers (rules 7 to 9, 16, 19, 21 and 29).

A call is *pending* until its response is here or its caller has stopped waiting. Then the peer is told that it is
cancelled, and it is *abandoned*; its late response is recognised and dropped.

If this side cancels a turn, the peer's requests that belong to it are answered as cancelled: those in flight at once,
others when they arrive. Turns that the peer cancels are in `request.py`.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Any

from acp_runtime.connection.handler import Message, session_of
from acp_runtime.connection.session import Notification, Outcome
from acp_runtime.errors import (
    ConnectionClosed,
    InternalError,
    InvalidResponse,
    ParseError,
    ProtocolVersionMismatch,
    RemoteError,
)
from acp_runtime.jsonrpc.encoding import notification_line
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.results import build_result, parse_result, plain_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import as_object
from acp_runtime.models.names import wire_name
from acp_runtime.stubs.methods import Notification as NotificationMethod, Request

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

Method = Request[Any, Any]

# The number of abandoned calls whose ids are remembered, to recognise their late responses.
_MAX_ABANDONED = 10_000
_UNREADABLE = (
    "The peer could not parse a line from this side. In an agent, this is what was printed to stdout before "
    "serve_stdio began, or by a program that inherited stdout before."
)

_logger = getLogger(__name__)


def copy_of(reason: ConnectionClosed) -> ConnectionClosed:
    """Return a copy for one caller, since raising it adds to its traceback."""
    return type(reason)(*reason.args)


@dataclass(slots=True, eq=False)
class Call:
    """A request that was sent.

    Attributes:
        id: counts up from 0.
        wire: the method.
        method: None if the schema doesn't have it.
        params: its params.
        session: the session whose notifications are handled before the response.
        caller: the message whose handler made the call.
        future: resolves to the result.
        creates_session: whether the result names a new session.
        turn_cancelled: whether this side has sent the notification that cancels its turn.
    """

    id: int
    wire: str
    method: Method | None
    params: Any
    session: str | None
    caller: Message | None
    future: asyncio.Future[Any]
    creates_session: bool
    turn_cancelled: bool = False

    def resolve(self, result: Any, error: BaseException | None) -> None:
        """Give the result or the error to the caller, if it still waits."""
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)

    @property
    def is_inside_a_notification(self) -> bool:
        """Whether the handler of a notification made the call, and waits for it."""
        return isinstance(self.caller, Notification) and not self.caller.done


class Calls:
    """The calls of one side.

    Args:
        connection: the connection.

    Attributes:
        pending: those without a response, by id, oldest first.
        abandoned: cancelled calls without a response, by id: the session if it was a turn, and a future that is done
            when the call is forgotten.
        turns: the methods of the peer that run a turn, each with the notification that cancels it.
        turn_cancellations: these notifications.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._log = ThrottledLogger(_logger)
        proxy: Any = connection.side.remote  # a subclass of `Remote`, with the tables of the peer's methods
        requests: list[Method] = list(proxy.requests.values())
        notifications: list[NotificationMethod[Any]] = list(proxy.notifications.values())
        wires = {each.wire for each in notifications}
        self.turns: dict[str, str] = {
            each.wire: each.cancelled[0]
            for each in requests
            if each.cancelled is not None and each.cancelled[0] in wires
        }
        self.turn_cancellations: frozenset[str] = frozenset(self.turns.values())
        self._by_id = [(each.wire, wire_name(each.cancels)) for each in notifications if each.cancels is not None]
        self.pending: dict[int, Call] = {}
        self.next_id: int = 0
        self.abandoned: OrderedDict[int, tuple[str | None, asyncio.Future[None]]] = OrderedDict()

    def add(self, wire: str, method: Method | None, params: Any, caller: Message | None) -> Call:
        """Add a call that was sent with the next id."""
        session = session_of(self._connection.profile, params)
        future = self._connection.loop.create_future()
        creates_session = method is not None and method.creates_session
        call = Call(self.next_id, wire, method, params, session, caller, future, creates_session)
        self.pending[call.id] = call
        self.next_id += 1
        if creates_session:
            self._connection.sessions.begin_creation_by_peer()
        if session is not None and session not in self._connection.sessions.used:
            self._connection.sessions.use(session)
        return call

    # Responses.

    def received(self, message: IncomingResponse) -> None:
        """Parse a response and pass it to its caller."""
        call = self._pop(message.id)
        if call is None:
            self._ignore(message)
            return
        try:
            self._deliver(call, self._result(call, message))
        except (RemoteError, InvalidResponse) as error:
            self._deliver(call, None, error)
        except ProtocolVersionMismatch as error:
            call.resolve(None, error)
            self._connection.end_calls(ConnectionClosed(f"{error}."))
            self._connection.stop(f"{error}.")

    def fail_unreadable(self, id: int, about: str) -> None:
        """Fail a call whose response can't be read (rule 3)."""
        call = self._pop(id)
        if call is None:
            self._forget_abandoned(id)
        else:
            self._deliver(call, None, InvalidResponse(call.wire, about))

    def close(self, reason: ConnectionClosed, *, when_handled: bool = False) -> None:
        """Fail the pending calls, and those that wait for late responses: the connection ends.

        Args:
            reason: why it ends.
            when_handled: let the calls of a session wait until the notifications received before were handled
                (rule 22), and those without a session until `close` is called again.
        """
        for _, answered in self.abandoned.values():
            answered.cancel()
        for call in tuple(self.pending.values()):
            if not when_handled or call.is_inside_a_notification:
                del self.pending[call.id]
                call.resolve(None, copy_of(reason))
            elif call.session is not None:
                del self.pending[call.id]
                self._deliver(call, None, copy_of(reason))

    def _pop(self, id: Any) -> Call | None:
        return self.pending.pop(id, None) if type(id) is int else None

    def _deliver(self, call: Call, result: Any, error: BaseException | None = None) -> None:
        """Resolve a call when the notifications before its response have been handled (rule 16).

        A call from the handler of a notification is resolved at once, since that handler waits for it.
        """
        session = None if call.session is None else self._connection.sessions.by_id.get(call.session)
        if session is None or (call.caller is not None and call.is_inside_a_notification):
            call.resolve(result, error)
        else:
            session.deliver(Outcome(call, result, error))

    def _ignore(self, message: IncomingResponse) -> None:
        """Log a response that answers no pending call, unless it is the late one to an abandoned call."""
        if self._forget_abandoned(message.id):
            return
        if message.id is None and (as_object(message.error) or {}).get("code") == ParseError.default_code:
            self._log.log(WARNING, "unreadable", _UNREADABLE)
        else:
            self._log.log(WARNING, "answer", "Ignored a response with an unknown id: %s", message.id)

    def _forget_abandoned(self, id: Any) -> bool:
        """Forget an abandoned call: its late response is here, or they are too many. Return whether there was one."""
        if type(id) is not int or id not in self.abandoned:
            return False
        self.abandoned.pop(id)[1].cancel()  # done, for turns that wait for it
        return True

    def _result(self, call: Call, message: IncomingResponse) -> Any:
        if message.fault:
            raise InvalidResponse(call.wire, message.fault)
        method = call.method
        if message.is_error:
            error = self._remote_error(call.wire, message.error)
            if method is None or method.gone is None or method.gone != error.code:
                raise error
            gone = build_result(method, b"{}")
            self._record(method, call, gone)
            return gone
        if method is None:
            return plain_result(message)
        if method.opens:
            self._connection.initialization.check_version(plain_result(message))
        result = parse_result(method, message)
        if method.opens or method.creates is not None or method.ends is not None:
            self._record(method, call, result)
        return result

    def _record(self, method: Method, call: Call, result: Any) -> None:
        connection = self._connection
        if method.opens:
            connection.initialization.record_peer(result)
        connection.guards.record_result(method, call.params, result)
        if method.ends == connection.profile.session_attribute and call.session is not None:
            connection.sessions.forget(call.session)

    def _remote_error(self, wire: str, error: Any) -> RemoteError:
        """Return the error in a response. Raises InvalidResponse if it is malformed."""
        body = as_object(error) or {}
        code, message = body.get("code"), body.get("message")
        if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
            raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
        remote = RemoteError.of(code, message, body.get("data"))
        if self._connection.process is not None and code == InternalError.default_code:
            remote.hint = self._connection.process.where_to_look
        return remote

    # Cancellation.

    def abandon(self, call: Call) -> None:
        """Cancel a call whose caller has stopped waiting."""
        if self.pending.pop(call.id, None) is None:
            return  # its response is here
        self.cancel(call)
        turn = call.session if call.wire in self.turns else None
        self.abandoned[call.id] = turn, self._connection.loop.create_future()
        if len(self.abandoned) > _MAX_ABANDONED:
            self._forget_abandoned(next(iter(self.abandoned)))

    def cancel(self, call: Call) -> None:
        """Tell the peer that a call is cancelled: first with the notification for its turn, which more agents know."""
        connection, wire = self._connection, self.turns.get(call.wire)
        if wire is not None and call.session is not None:
            connection.writer.send(notification_line(wire, {connection.profile.session: call.session}))
            self.note_cancelled_turn(wire, call.session)
        for wire, field in self._by_id:
            connection.writer.send(notification_line(wire, {field: call.id}))

    def cancel_all(self) -> None:
        """Cancel all calls whose methods have a result for a cancelled call, because this side ends the connection."""
        for call in self.pending.values():
            if call.method is not None and call.method.cancelled is not None:
                self.cancel(call)

    def note_cancelled_turn(self, wire: str, session: str | None) -> None:
        """Note that this side has cancelled the turns of a session, and answer the peer's requests in them."""
        if session is None:
            return
        for call in self.pending.values():
            if call.session == session and call.wire in self.turns:
                call.turn_cancelled = True
        self._connection.requests.answer_cancelled_turn(wire, session)

    def is_in_cancelled_turn(self, method: Method, id: str | None) -> bool:
        """Return whether a request of the peer is cancelled with its turn, which this side has cancelled."""
        if id is None or method.cancelled is None or method.cancelled[0] not in self.turn_cancellations:
            return False
        if self._unanswered_turns(id):
            return True
        return any(call.turn_cancelled and call.session == id for call in self.pending.values())

    async def wait_for_cancelled_turns(self, method: Method, params: Any) -> None:
        """Let a new turn of a session wait for the responses to the cancelled ones before it (rule 19)."""
        late = self._unanswered_turns(session_of(self._connection.profile, params))
        if not late:
            return
        limits, deadline = self._connection.limits, self._connection.options.late_answer_deadline
        waiting = limits.begin_wait_for_peer()
        try:
            _, unanswered = await asyncio.wait(late.values(), timeout=deadline)
        finally:
            limits.end_wait_for_peer(waiting)
        if unanswered:
            message = (
                "Sending %s although the cancelled one before it in its session was not answered within %s s "
                "(Options.late_answer_deadline)"
            )
            self._log.log(WARNING, "late", message, method.wire, deadline)
            self.abandoned.update({id: (None, late[id]) for id in late if id in self.abandoned})

    def _unanswered_turns(self, session: str | None) -> dict[int, asyncio.Future[None]]:
        """Return the abandoned turns of a session, by id."""
        if session is None:
            return {}
        return {id: answered for id, (turn, answered) in self.abandoned.items() if turn == session}
