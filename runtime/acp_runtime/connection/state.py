"""What one side knows of a connection: who it is, what was agreed, and which messages are allowed (rules 25 to 28).

Nothing here sends, waits or calls a handler. The tables of methods say what each method needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from logging import ERROR, WARNING, getLogger
from typing import Any
from weakref import WeakSet

from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_json

from acp_runtime import errors
from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.login_methods import LOGINS, check_login
from acp_runtime.connection.places import MessagePlaces, Violations
from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.logs import ThrottledLogger, log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.options import Options
from acp_runtime.stubs.facts import Needs, PlaceFact, Unsupported
from acp_runtime.stubs.methods import AnyMethod, Capability, Notification, Profile, Request
from acp_runtime.stubs.sides import Side

_HIGHEST_VERSION = 2**16 - 1

# The classes of handlers whose unused methods were logged. A gateway implements all of them, for each connection.
_reported: WeakSet[type] = WeakSet()

_logger = getLogger(__name__)


class ProtocolState:
    """The state of one connection, as this side knows it.

    Args:
        side: this side, with the methods that it handles and calls.
        options: `guards` decides what happens to forbidden messages, and whether versions are checked.

    Attributes:
        side: this side.
        longest_line: the size of the largest message that may be sent, with its newline.
        profile: its version of the protocol.
        handler: handles its methods; None until the factory has returned it.
        is_open: whether `initialize` was answered.
        peer_capabilities: the peer's capabilities, as a model; None before.
        peer_info: its name and version, as a model; None before, or if it sent none.
    """

    def __init__(self, side: Side[Any], options: Options) -> None:
        self.side: Side[Any] = side
        self.longest_line: int = options.max_message_bytes + 1
        self.profile: Profile = side.profile
        self.handler: Any = None
        self.is_open: bool = False
        self.peer_capabilities: Any = None
        self.peer_info: Any = None
        self._guards = options.guards
        self._advertised_by_peer = side.profile.advertised["client" if side.role == "agent" else "agent"]
        # The peer's message that opened the connection, as plain JSON.
        self._peer: Mapping[str, Any] = {}
        # The same for this side's message.
        self._own: Mapping[str, Any] = {}
        self._has_advertised = False
        # The restricted places in params and results, sent and received. None if there are none: the side that receives
        # them has advertised everything that they need.
        self._outgoing: dict[AnyMethod, MessagePlaces | None] = {}
        self._outgoing_results: dict[AnyMethod, MessagePlaces | None] = {}
        self._incoming: dict[AnyMethod, MessagePlaces | None] = {}
        self._incoming_results: dict[AnyMethod, MessagePlaces | None] = {}
        # The sessions and terminals that the peer has created, by the field that names them.
        self._created: defaultdict[str, RecentIds] = defaultdict(RecentIds)
        self._log = ThrottledLogger(_logger)

    # What both sides have said.

    def record_peer(self, message: Any) -> None:
        """Record the peer's request or result that opens the connection."""
        capabilities, info = self._advertised_by_peer
        self.is_open = True
        self._outgoing.clear()
        self._outgoing_results.clear()
        self._peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)

    def record_own(self, message: Any) -> None:
        """Compare what this side advertises with what it implements, once. Log the methods where these differ.

        Those that are implemented and not advertised are logged once for each class. A capability that is false in
        the message was not forgotten.
        """
        self._incoming.clear()
        self._incoming_results.clear()
        self._own = advertised = to_plain_json(message)
        if self._has_advertised or self.handler is None:
            return
        self._has_advertised = True
        missing, unused = list[str](), list[str]()
        methods: list[AnyMethod] = [*self.side.requests.values(), *self._cancellations()]
        for method in methods:
            if not isinstance(method.capability, str) or method.side != self.side.role:
                continue
            logins = as_array(advertised.get(method.capability)) or ()
            is_optional = self.profile.protocol_version == 1  # version 2 requires `auth/login` and `auth/logout` anyway
            if logins and is_optional and all((as_object(login) or {}).get("type") == "terminal" for login in logins):
                continue  # the client runs these itself
            steps = method.capability.split(".")
            overrides = self.side.overrides(self.handler, method)
            is_advertised = _is_advertised(advertised, steps)
            if is_advertised and not overrides:
                missing.append(method.wire)
            elif overrides and not is_advertised and _value_at(advertised, steps) is not False:
                unused.append(method.wire)
        cls: type[Any] = self.handler.__class__
        if missing:
            text = "%s advertises methods that it does not implement, and peers will call them: %s"
            log(_logger, ERROR, text, cls.__name__, ", ".join(missing))
        if unused and cls not in _reported:
            _reported.add(cls)
            text = "%s implements methods that it does not advertise; peers will not call them: %s"
            log(_logger, WARNING, text, cls.__name__, ", ".join(unused))

    def _cancellations(self) -> Iterator[Notification[Any]]:
        """Yield the notifications that cancel work beyond the requests in flight, which the default can't cancel."""
        cancelled = [method.cancelled for method in self.side.requests.values() if method.cancelled]
        cancelling = {fact.by for fact in cancelled if not fact.result}
        return (method for wire, method in self.side.notifications.items() if wire in cancelling)

    def record_result(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Record what the peer's result to a call opens, creates or ends. Log what it should not have."""
        if method.opens:
            self.record_peer(result)
        if self._guards != "off" and method.result_facts:
            if method not in self._incoming_results:
                self._incoming_results[method] = _restrict(method.result_facts, self._own)
            places = self._incoming_results[method]
            self._log_received(method, {} if places is None else places.find_violations(result))
        if method.creates is not None:
            self._created[method.creates].add(getattr(result, method.creates))
        if method.ends is not None:
            self._created[method.ends].discard(getattr(params, method.ends))

    # Which messages are allowed.

    def supports(self, method: AnyMethod) -> bool:
        """Return whether a call of a method is allowed, whatever its params are."""
        if not self.is_open:
            return may_come_first(method)
        return method.capability is None or self._has(method.capability)

    def check_outgoing(self, method: AnyMethod, params: Any) -> None:
        """Check a message that is to be sent.

        Raises:
            GuardError: if it may not be sent now and `Options.guards` is "raise".
        """
        if self._guards == "off" or method.side == "protocol":
            return
        if not self.is_open:
            if not may_come_first(method):
                early = f"{method.wire} was called before initialize was answered. Await initialize first."
                self._forbid(errors.NotInitialized(early))
            return
        try:
            places = self._outgoing[method]
        except KeyError:
            places = self._outgoing[method] = _restrict(self._facts_for_peer(method), self._peer)
        if places is not None and (not places.only or params.__dict__.get(places.only).__class__ not in places.skipped):
            violations = places.find_violations(params)
            if violations and self._is_exempt(method, params):
                violations = {fact: value for fact, value in violations.items() if fact.place}
            if violations:
                self._forbid_all(method.wire, violations)
        if method.wire in LOGINS and (error := check_login(method, params, self._peer)):
            self._forbid(error)

    def check_result(self, method: Request[Any, Any], params: Any, result: Any) -> Any:
        """Check a result that is to be sent, and return it.

        The one that opens the connection is returned without items of lists that need a capability of the client, such
        as login methods for a terminal: an error would refuse every client that doesn't have it.

        Raises:
            CapabilityError, RelativePath: if it may not be sent and `Options.guards` is "raise".
        """
        if self._guards == "off":
            return result
        if method.opens:  # its params say what the peer advertises
            places = _restrict(method.result_facts, to_plain_json(params))
        else:
            if method not in self._outgoing_results:
                self._outgoing_results[method] = _restrict(method.result_facts, self._peer)
            places = self._outgoing_results[method]
        if places is None:
            return result
        violations = places.find_violations(result)
        while method.opens and self._guards == "raise" and (shorter := self._leave_out(result, violations)):
            result = shorter
            violations = places.find_violations(result)
        self._forbid_all(f"The result of {method.wire}", violations)
        return result

    def _leave_out(self, result: Any, violations: Violations) -> Any:
        """Return a result without an item of a list that needs a capability of the peer; None if no list has one."""
        for fact, value in violations.items():
            attribute = to_snake(fact.place.partition(".")[0])
            items = as_array(getattr(result, attribute, None)) or ()
            others = [item for item in items if item is not value]
            if isinstance(fact, Needs) and len(others) < len(items):
                message = "Left %s out of the message that opens the connection: the peer did not advertise %s"
                self._log.log(WARNING, fact.place, message, fact.place, fact.capability)
                return result.model_copy(update={attribute: others})
        return None

    def refuse_line(self, wire: str, line: bytes) -> None:
        """Refuse a line that is longer than `longest_line`. `wire` is its method, or that of the request it answers.

        Raises:
            OversizedMessage: if `Options.guards` is "raise".
        """
        if self._guards != "off":
            self._forbid(errors.OversizedMessage(wire, len(line) - 1, self.longest_line - 1))

    def check_extension(self, wire: str) -> None:
        """Check the name of a method that is to be sent as plain JSON.

        Raises:
            GuardError: if ACP doesn't reserve it for extensions and `Options.guards` is "raise".
        """
        if self._guards != "off" and not wire.startswith("_"):
            reason = f"The name of an extension method begins with an underscore, {wire!r} doesn't."
            advice = "If the peer uses this name, declare it with unprefixed=True and pass the declaration"
            self._forbid(errors.GuardError(f"{reason} {advice} to `call` or `notify`."))

    def check_incoming(self, method: AnyMethod, params: Any) -> errors.RequestError | None:
        """Return the error that answers a forbidden message; None if it may be handled.

        Args:
            method: its method.
            params: its params; None if they are invalid.
        """
        if self._guards == "off":
            return None
        if not self.is_open and not may_come_first(method):
            early = errors.InvalidRequest("The first request has to be initialize", {"method": method.wire})
            if self._guards == "raise":
                return early
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, early.message)
        try:
            places = self._incoming[method]
        except KeyError:
            places = self._incoming[method] = _restrict(method.params_facts, self._own)
        if places is None or params is None:
            return None
        if places.only and params.__dict__.get(places.only).__class__ in places.skipped:
            return None
        violations = places.find_violations(params)
        return self._judge(method, violations) if violations else None

    def _judge(self, method: AnyMethod, violations: Violations) -> errors.InvalidParams | None:
        """Return the error that answers a message with these violations; None if it may be handled."""
        rejected = dict.fromkeys((fact.place, fact.fault) for fact in violations if fact.rejects)
        if rejected and self._guards == "raise":
            return errors.InvalidParams(data={"errors": [{"path": path, "message": text} for path, text in rejected]})
        self._log_received(method, violations)
        return None

    def _log_received(self, method: AnyMethod, violations: Violations) -> None:
        for fact in violations:
            message = "The peer broke the protocol with %s in %s: %s"
            self._log.log(WARNING, f"{method.wire} {fact.place}", message, fact.place, method.wire, fact.fault)

    def _is_exempt(self, method: AnyMethod, params: Any) -> bool:
        """Return whether the peer created what a call is about, so that it needs no capability."""
        return method.exempt is not None and getattr(params, method.exempt) in self._created[method.exempt]

    def _facts_for_peer(self, method: AnyMethod) -> Sequence[PlaceFact]:
        """Return the facts about the params that are sent, and one for the method if the peer did not advertise it."""
        if method.capability is None or self._has(method.capability):
            return method.params_facts
        return [Needs("", self._path_of(method.capability)), *method.params_facts]

    def _has(self, capability: Capability) -> bool:
        return _is_advertised(self._peer, self._steps(capability))

    def _path_of(self, capability: Capability) -> str:
        """Return the path of a capability in the peer's `initialize` message, to show it."""
        if isinstance(capability, str):
            return capability
        first, *steps = self._steps(capability)
        return first + "".join(f".{step}" if step.isidentifier() else f'["{step}"]' for step in steps)

    def _steps(self, capability: Capability) -> Sequence[str]:
        return capability.split(".") if isinstance(capability, str) else (self._advertised_by_peer[0], *capability)

    def _forbid_all(self, call: str, violations: Violations) -> None:
        for fact, value in violations.items():
            if not isinstance(fact, Unsupported):
                self._forbid(fact.guard_error(call, value))

    def _forbid(self, error: errors.GuardError) -> None:
        if self._guards == "raise":
            raise error
        self._log.log(WARNING, type(error).__name__, "%s", error)

    # The version of the protocol, which is the profile's.

    def refuse_version(self, version: int) -> errors.UnsupportedProtocolVersion | None:
        """Return the error for a client that asks for a lower version; None if this side answers with its own."""
        own = self.profile.protocol_version
        if self._guards == "off" or not self.profile.refuses_lower or version >= own:
            return None
        return errors.UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})

    def read_another_version(
        self, method: Request[Any, Any], id: RequestId, params: Any
    ) -> IncomingRequest | errors.UnsupportedProtocolVersion | None:
        """Read the version in an opening request with invalid params, which may be for another version of the protocol.

        Returns:
            The request reduced to its version, the error that answers it, or None for this version or an invalid one.
        """
        version, own = version_in(as_object(params) or {}, self.profile.version), self.profile.protocol_version
        if self._guards == "off" or version is None or version == own:
            return None
        try:
            known = params_adapter(method).validate_json(to_json({self.profile.version: version}))
        except ValidationError:
            return errors.UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})
        return self.refuse_version(version) or IncomingRequest(id, method.wire, known)

    def with_own_version(self, result: Any) -> Any:
        """Return the handler's result with this profile's version, the only one that this side supports (rule 26)."""
        attribute, own = self.profile.version_attribute, self.profile.protocol_version
        if self._guards != "off" and getattr(result, attribute) != own:
            return result.model_copy(update={attribute: own})
        return result

    def check_version(self, result: Any) -> None:
        """Check the version in the peer's result, given as plain JSON, before anything else in it.

        Raises:
            ProtocolVersionMismatch: if it is not this profile's.
        """
        version = version_in(as_object(result) or {}, self.profile.version)
        if self._guards != "off" and version is not None and version != self.profile.protocol_version:
            raise errors.ProtocolVersionMismatch(version, self.profile.protocol_version)


def may_come_first(method: AnyMethod) -> bool:
    """Return whether a method may be called before `initialize` was answered."""
    if method.side == "extension":
        return method.capability is None
    return method.side == "protocol" or (isinstance(method, Request) and method.opens)


def _restrict(facts: Sequence[PlaceFact], advertised: Mapping[str, Any]) -> MessagePlaces | None:
    """Return the places that facts restrict, given what the receiver has advertised; None if there are none."""
    restricting = tuple(
        fact
        for fact in facts
        if not (isinstance(fact, Needs) and _is_advertised(advertised, fact.capability.split(".")))
    )
    return _places(restricting) if restricting else None


@lru_cache(maxsize=256)
def _places(facts: tuple[PlaceFact, ...]) -> MessagePlaces:
    """Return the places of facts, which take several kilobytes. Connections share them."""
    return MessagePlaces(facts)


def version_in(message: Mapping[str, Any], name: str) -> int | None:
    """Return the version in a message that opens the connection, given its property; None if it is invalid."""
    value: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return None
    return int(value) if 0 <= value <= _HIGHEST_VERSION else None


def _is_advertised(message: Mapping[str, Any], steps: Sequence[str]) -> bool:
    """Return whether a message has a capability: true, an object, or a list that isn't empty."""
    value = _value_at(message, steps)
    return value is True or as_object(value) is not None or bool(as_array(value))


def _value_at(message: Mapping[str, Any], steps: Sequence[str]) -> Any:
    """Return the value at a path in a message; None if there is none."""
    value: Any = message
    for step in steps:
        value = (as_object(value) or {}).get(step)
    return value
