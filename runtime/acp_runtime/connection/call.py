"""The calls of this side: requests that the peer answers (rules 7 to 9, 16, 19, 21 and 29).

A call is *pending* until its response is here or its caller has stopped waiting. Then the peer is told that it is
cancelled, and it is *abandoned*; its late response is recognised and dropped.

If this side cancels a turn, the peer's requests that belong to it are answered as cancelled: those in flight at once,
others when they arrive. Turns that the peer cancels are in `request.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from logging import WARNING, getLogger
from typing import Any

from acp_runtime.connection.both_sides import BothSides
from acp_runtime.connection.effects import FAILED, Effects
from acp_runtime.connection.ids import Groups, RecentIds
from acp_runtime.connection.in_flight import InFlight, InFlightNotification, begin_wait_for_peer, current, wait_for_peer
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.negotiation import Negotiation
from acp_runtime.connection.request import Requests
from acp_runtime.connection.session import Outcome, Sessions
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, InternalError, InvalidResponse, ProtocolVersionMismatch, RemoteError
from acp_runtime.jsonrpc.encoding import notification_line
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.results import build_result, parse_error, parse_result, plain_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import wire_name
from acp_runtime.options import Options
from acp_runtime.stubs.methods import Notification, Request, session_of
from acp_runtime.stubs.roles import ProcessInfo

Method = Request[Any, Any]

# The number of abandoned calls whose ids are remembered, to recognise their late responses.
_MAX_ABANDONED = 10_000

_logger = getLogger(__name__)


def copy_of(reason: ConnectionClosed) -> ConnectionClosed:
    """Return a copy for one caller, since raising it adds to its traceback."""
    return type(reason)(*reason.args)


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """A request that was sent.

    Attributes:
        id: counts up from 0.
        wire: the method.
        method: None if the schema doesn't have it.
        params: its params.
        session: the session whose notifications are handled before the response.
        caller: the message whose handler made the call, if it came by the same connection.
        inside: the same, whichever connection it came by.
        future: resolves to the result.
        turn_cancelled: whether this side has sent the notification that cancels its turn.
        forgotten: done when the call was abandoned, and its late response is here or no longer expected; None before it
            is abandoned.
    """

    id: int
    wire: str
    method: Method | None
    params: Any
    session: str | None
    caller: InFlight | None
    inside: InFlight | None
    future: asyncio.Future[Any]
    turn_cancelled: bool = False
    forgotten: asyncio.Future[None] | None = None

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
        return isinstance(self.inside, InFlightNotification) and not self.inside.done


@dataclass(eq=False, repr=False)
class Calls:
    """The calls of one side.

    Attributes:
        sides: this side, with the tables of the peer's methods.
        options: how long a turn waits for the response to a cancelled one.
        process: the subprocess at the other end, if there is one.
        limits: are told which handlers wait for the peer.
        writer: sends the cancellations.
        negotiation: checks the version in the response that opens the connection.
        effects: are told what the results open, create and end.
        sessions: deliver the results behind the notifications.
        requests: answer those of a turn that this side has cancelled.
        stop: ends the connection.
        closed: why no call can be sent any more; None while it can.
        pending: those without a response, by id, oldest first.
        abandoned: cancelled calls without a response, by id.
        turns: the methods of the peer that run a turn, each with the notification that cancels it.
        turn_cancellations: these notifications.
        cancelled_sessions: those whose newest turn this side has cancelled.
    """

    sides: BothSides
    options: Options
    process: ProcessInfo | None
    limits: Limits
    writer: Writer
    negotiation: Negotiation
    effects: Effects
    sessions: Sessions
    requests: Requests
    stop: Callable[[str], object]
    closed: ConnectionClosed | None = field(default=None, init=False)
    pending: dict[int, Call] = field(default_factory=dict[int, Call], init=False)
    abandoned: dict[int, Call] = field(default_factory=dict[int, Call], init=False)
    next_id: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._log = ThrottledLogger(_logger)
        proxy: Any = self.sides.own.remote  # a subclass of `Remote`, with the tables of the peer's methods
        notifications: dict[str, Notification[Any]] = proxy.notifications
        cancelled = {method.wire: method.cancelled[0] for method in proxy.requests.values() if method.cancelled}
        self.turns: dict[str, str] = {wire: by for wire, by in cancelled.items() if by in notifications}
        self.turn_cancellations: frozenset[str] = frozenset(self.turns.values())
        by_id = {method.wire: method.cancels for method in notifications.values()}
        self._cancels_by_id = [(wire, wire_name(field)) for wire, field in by_id.items() if field is not None]
        # The turns without a response, by session.
        self._turns_of: Groups[Call] = Groups()
        self.cancelled_sessions: RecentIds = RecentIds()

    def add(self, wire: str, method: Method | None, params: Any) -> Call:
        """Add a call that was sent with the next id. Call `end` when it has returned."""
        session = session_of(self.sides.profile, params)
        caller = begin_wait_for_peer(self.limits)
        call = Call(self.next_id, wire, method, params, session, caller, current.get(), self._loop.create_future())
        self.pending[call.id] = call
        self.next_id += 1
        if session is not None:
            self.sessions.use(session)
            if wire in self.turns:
                self._turns_of.put(session, call)
                self.cancelled_sessions.discard(session)
        if method is not None and method.creates_session:
            self.sessions.begin_creation()
        return call

    def end(self, call: Call) -> None:
        """Note that a call has returned to its caller."""
        if call.caller is not None:
            call.caller.end_wait()
            call.caller = None
        call.inside = None
        if call.method is not None and call.method.creates_session:
            future = call.future
            has_failed = not future.done() or future.cancelled() or future.exception() is not None
            self.effects.returned(FAILED if has_failed else future.result())

    # Responses.

    def received(self, message: IncomingResponse) -> None:
        """Parse a response and pass it to its caller."""
        call = self._pop(message.id)
        if call is None:
            if not self._forget_abandoned(message.id):
                self._log.log(WARNING, "answer", "Ignored a response with an unknown id: %s", message.id)
            return
        try:
            self._deliver(call, self._result(call, message))
        except (RemoteError, InvalidResponse) as error:
            self._deliver(call, None, error)
        except ProtocolVersionMismatch as error:
            call.resolve(None, error)
            self.close(ConnectionClosed(f"{error}."))
            self.stop(f"{error}.")

    def fail_unreadable(self, id: int, about: str) -> None:
        """Fail a call whose response can't be read (rule 3)."""
        call = self._pop(id)
        if call is None:
            self._forget_abandoned(id)
        else:
            self._deliver(call, None, InvalidResponse(call.wire, about))

    def close(self, reason: ConnectionClosed, *, when_handled: bool = False) -> None:
        """Fail the pending calls, all future ones and those that wait for late responses: the connection ends.

        Notifications may still be sent.

        Args:
            reason: why it ends.
            when_handled: let the calls of a session wait until the notifications received before were handled
                (rule 22), and those without a session until `close` is called again.
        """
        self.closed = reason
        for id in tuple(self.abandoned):
            self._forget_abandoned(id)
        for call in tuple(self.pending.values()):
            if not when_handled or call.is_inside_a_notification:
                self._pop(call.id)
                call.resolve(None, copy_of(reason))
            elif call.session is not None:
                self._pop(call.id)
                self._deliver(call, None, copy_of(reason))

    def _pop(self, id: Any) -> Call | None:
        call = self.pending.pop(id, None) if type(id) is int else None
        if call is not None and self._turns_of:
            self._turns_of.remove(call.session, call)
        return call

    def _deliver(self, call: Call, result: Any, error: BaseException | None = None) -> None:
        """Resolve a call when the notifications before its response have been handled (rule 16).

        A call from the handler of a notification is resolved at once, since that handler waits for it: also that of
        another connection, which a handler of this one may wait for.
        """
        session = None if call.session is None else self.sessions.by_id.get(call.session)
        if session is None or call.is_inside_a_notification:
            call.resolve(result, error)
        else:
            session.deliver(Outcome(call.resolve, result, error))

    def _forget_abandoned(self, id: Any) -> bool:
        """Forget an abandoned call: its late response is here, or there are too many. Return whether it was one."""
        call = self.abandoned.pop(id, None) if type(id) is int else None
        if call is None or call.forgotten is None:
            return False
        call.forgotten.cancel()  # done, for turns that wait for it
        self._turns_of.remove(call.session, call)
        return True

    def _result(self, call: Call, message: IncomingResponse) -> Any:
        if message.fault:
            raise InvalidResponse(call.wire, message.fault)
        method = call.method
        if message.is_error:
            error = parse_error(call.wire, message)
            if self.process is not None and error.code == InternalError.default_code:
                error.hint = "The agent's stderr may say why."
            if method is None or method.gone is None or method.gone != error.code:
                raise error
            gone = build_result(method, b"{}")
            self.effects.succeeded(method, call.params, call.session, gone)
            return gone
        if method is None:
            return plain_result(message)
        if method.opens:
            self.negotiation.check_version(plain_result(message))
        result = parse_result(method, message)
        if method.opens or method.creates is not None or method.ends is not None:
            self.effects.succeeded(method, call.params, call.session, result)
        return result

    # Cancellation.

    def abandon(self, call: Call) -> None:
        """Cancel a call whose caller has stopped waiting."""
        if self.pending.pop(call.id, None) is None:
            return  # its response is here
        self.cancel(call)
        call.params = None  # it may be large, and nothing needs it any more
        call.forgotten = self._loop.create_future()
        self.abandoned[call.id] = call
        if len(self.abandoned) > _MAX_ABANDONED:
            self._forget_abandoned(next(iter(self.abandoned)))

    def cancel(self, call: Call) -> None:
        """Tell the peer that a call is cancelled: first with the notification for its turn, which more agents know."""
        wire = self.turns.get(call.wire)
        if wire is not None and call.session is not None:
            self.writer.send(notification_line(wire, {self.sides.profile.session: call.session}))
            self.note_cancelled_turn(wire, call.session)
        for wire, name in self._cancels_by_id:
            self.writer.send(notification_line(wire, {name: call.id}))

    def cancel_all(self) -> None:
        """Cancel all calls whose methods have a result for a cancelled call, because this side ends the connection."""
        for call in self.pending.values():
            if call.method is not None and call.method.cancelled is not None:
                self.cancel(call)

    def note_cancelled_turn(self, wire: str, session: str | None) -> None:
        """Note that this side has cancelled the turns of a session, and answer the peer's requests in them."""
        if session is None:
            return
        for call in self._turns_of.get(session, ()):
            call.turn_cancelled = True
            self.cancelled_sessions.add(session)
        self.requests.answer_cancelled_turn(wire, session)

    def is_in_cancelled_turn(self, method: Method, session: str | None) -> bool:
        """Return whether a request of the peer is cancelled with its turn, which this side has cancelled."""
        if session is None or method.cancelled is None or method.cancelled[0] not in self.turn_cancellations:
            return False
        return any(call.turn_cancelled for call in self._turns_of.get(session, ()))

    async def wait_for_cancelled_turns(self, method: Method, params: Any) -> None:
        """Let a new turn of a session wait for the responses to the cancelled ones before it (rule 19)."""
        turns = self._turns_of.get(session_of(self.sides.profile, params), ())
        late = {call.forgotten: call for call in turns if call.forgotten is not None}
        if not late:
            return
        answers = asyncio.wait(late, timeout=self.options.late_answer_deadline)
        _, unanswered = await wait_for_peer(self.limits, answers)
        if unanswered:
            message = "Sending %s, although the cancelled one before it was not answered (Options.late_answer_deadline)"
            self._log.log(WARNING, "late", message, method.wire)
            for forgotten in unanswered:
                self._turns_of.remove(late[forgotten].session, late[forgotten])
