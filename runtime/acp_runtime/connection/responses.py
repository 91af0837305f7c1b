"""The peer's responses: each resolves one pending call (rules 8, 9, 16 and 29)."""

from __future__ import annotations

from collections.abc import Callable
from logging import WARNING, getLogger
from typing import Any

from acp_runtime.connection.calls import Call, Outcome
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.errors import InternalError, InvalidResponse, ParseError, ProtocolVersionMismatch, RemoteError
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.results import build_result, parse_result, plain_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import as_object
from acp_runtime.stubs.methods import Profile, Request
from acp_runtime.stubs.roles import ProcessInfo

_logger = getLogger(__name__)
_UNREADABLE = (
    "The peer could not parse a line from this side. In an agent, this is what was printed to stdout before "
    "serve_stdio began, or by a program that inherited stdout before."
)


class Responses:
    """Passes responses to the callers.

    Args:
        profile: the version of the protocol.
        initialization: checks and records the response that opens the connection.
        guards: record what the peer has created.
        queues: the session queues, whose notifications are handled before a response to their session.
        pending: the calls without a response.
        late: the cancelled calls without a response.
        process: the subprocess at the other end, if there is one.
        mismatch: called if the peer speaks another version of the protocol.
    """

    def __init__(
        self,
        profile: Profile,
        initialization: Initialization,
        guards: Guards,
        queues: SessionQueues,
        pending: PendingCalls,
        late: LateResponses,
        process: ProcessInfo | None,
        mismatch: Callable[[ProtocolVersionMismatch], None],
    ) -> None:
        self._profile = profile
        self._initialization = initialization
        self._guards = guards
        self._queues = queues
        self._pending = pending
        self._late = late
        self._process = process
        self._mismatch = mismatch
        self._log = ThrottledLogger(_logger)

    def received(self, message: IncomingResponse) -> None:
        """Parse a response and pass it to its caller."""
        call = self._pending.pop(message.id)
        if call is None:
            if self._pending.was_abandoned(message.id):
                self._late.arrived(message.id)
            elif message.id is None and (as_object(message.error) or {}).get("code") == ParseError.default_code:
                self._log.log(WARNING, "unreadable", _UNREADABLE)
            else:
                self._log.log(WARNING, "answer", "Ignored a response with an unknown id: %s", message.id)
            return
        try:
            self.deliver(Outcome(call, self._result(call, message)))
        except (RemoteError, InvalidResponse) as error:
            self.deliver(Outcome(call, error=error))
        except ProtocolVersionMismatch as error:
            call.fail(error)
            self._mismatch(error)

    def fail_unreadable(self, id: int, about: str) -> None:
        """Fail a call whose response can't be decoded (rule 3)."""
        call = self._pending.pop(id)
        if call is not None:
            self.deliver(Outcome(call, error=InvalidResponse(call.wire, about)))
        elif self._pending.was_abandoned(id):
            self._late.arrived(id)

    def deliver(self, outcome: Outcome) -> None:
        """Resolve a call when the notifications before its response have been handled (rule 16).

        A call from the handler of a notification is resolved at once, since that handler waits for it.
        """
        call = outcome.call
        if call.session is None or (call.caller is not None and call.is_inside_a_notification):
            outcome.deliver()
        else:
            self._queues.when_handled(call.session, outcome)

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
            self._initialization.check_version(plain_result(message))
        result = parse_result(method, message)
        if method.opens or method.creates is not None or method.ends is not None:
            self._record(method, call, result)
        return result

    def _record(self, method: Request[Any, Any], call: Call, result: Any) -> None:
        if method.opens:
            self._initialization.record_peer(result)
            self._guards.capabilities_changed()
        if method.creates is not None or method.ends is not None:
            self._guards.record_result(method, call.params, result)
            if method.ends == self._profile.session_attribute and call.session is not None:
                self._queues.forget(call.session)

    def _remote_error(self, wire: str, error: Any) -> RemoteError:
        """Return the error in a response. Raises InvalidResponse if it is malformed."""
        body = as_object(error) or {}
        code, message = body.get("code"), body.get("message")
        if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
            raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
        remote = RemoteError.of(code, message, body.get("data"))
        if self._process is not None and code == InternalError.default_code:
            remote.hint = self._process.where_to_look
        return remote
