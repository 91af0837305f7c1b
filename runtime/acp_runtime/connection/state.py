"""What one side knows of a connection: who it is, what was agreed, and which messages are allowed (rules 25 to 28).

Nothing here sends, waits or calls a handler. The tables of methods say what each method needs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from logging import ERROR, WARNING, getLogger
from typing import Any, TypeAlias

from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_json

from acp_runtime import errors
from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.login_methods import check_login
from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.logs import ThrottledLogger, log
from acp_runtime.models.json_values import as_array, as_object, wire_name
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod, Capability, Profile, Request
from acp_runtime.stubs.sides import Side

# For each field of a method's params, what needs a capability that the peer lacks, by the tag of its values: a text to
# show it, and the path of the capability. The empty tag stands for any value, the empty field for the method itself.
_Missing: TypeAlias = dict[str, dict[str, tuple[str, str]]]

_HIGHEST_VERSION = 2**16 - 1
# On POSIX, or beginning with a drive or a UNC share.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")

_logger = getLogger(__name__)


class ProtocolState:
    """The state of one connection, as this side knows it.

    Args:
        side: this side, with the methods that it handles and calls.
        options: `guards` decides what happens to forbidden messages, and whether versions are checked.

    Attributes:
        side: this side.
        profile: its version of the protocol.
        handler: handles its methods; None until the factory has returned it.
        is_open: whether `initialize` was answered.
        peer_capabilities: the peer's capabilities, as a model; None before.
        peer_info: its name and version, as a model; None before, or if it sent none.
    """

    def __init__(self, side: Side[Any], options: Options) -> None:
        self.side: Side[Any] = side
        self.profile: Profile = side.profile
        self.handler: Any = None
        self.is_open: bool = False
        self.peer_capabilities: Any = None
        self.peer_info: Any = None
        self._guards = options.guards
        self._advertised_by_peer = side.profile.advertised["client" if side.role == "agent" else "agent"]
        # The peer's message that opened the connection, as plain JSON.
        self._peer: Mapping[str, Any] = {}
        self._has_advertised = False
        self._missing: dict[AnyMethod, _Missing] = {}
        # The sessions and terminals that the peer has created, by the field that names them.
        self._created: defaultdict[str, RecentIds] = defaultdict(RecentIds)
        self._log = ThrottledLogger(_logger)

    # What both sides have said.

    def record_peer(self, message: Any) -> None:
        """Record the peer's request or result that opens the connection."""
        capabilities, info = self._advertised_by_peer
        self.is_open = True
        self._missing.clear()
        self._peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)

    def record_own(self, message: Any) -> None:
        """Compare what this side advertises with what it implements, once. Log the methods where these differ."""
        if self._has_advertised or self.handler is None:
            return
        self._has_advertised, advertised = True, to_plain_json(message)
        missing, unused = list[str](), list[str]()
        for method in self.side.requests.values():
            if not isinstance(method.capability, str) or method.side != self.side.role:
                continue
            logins = as_array(advertised.get(method.capability)) or ()
            if logins and all((as_object(login) or {}).get("type") == "terminal" for login in logins):
                continue  # the client runs these itself
            is_advertised = _is_advertised(advertised, method.capability.split("."))
            if is_advertised != self.side.overrides(self.handler, method):
                (missing if is_advertised else unused).append(method.wire)
        name = type(self.handler).__name__
        if missing:
            text = "%s advertises methods that it does not implement; calls to them are answered with an error: %s"
            log(_logger, ERROR, text, name, ", ".join(missing))
        if unused:
            text = "%s implements methods that it does not advertise; peers will not call them: %s"
            log(_logger, WARNING, text, name, ", ".join(unused))

    def record_result(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Record what the peer's result to a call opens, creates or ends."""
        if method.opens:
            self.record_peer(result)
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
        if self.is_open:
            missing = self._missing.get(method)
            if missing is None:
                missing = self._missing[method] = self._find_missing(method)
            if missing:
                self._check_capabilities(method, params, missing)
            elif method.login is not None and (error := check_login(method.login, method.wire, params, self._peer)):
                self._forbid(error)
        elif not may_come_first(method):
            early = f"{method.wire} was called before initialize was answered. Await initialize first."
            self._forbid(errors.NotInitialized(early))
        for field, path in relative_paths(method, params) if method.paths else ():
            self._forbid(errors.RelativePath(f"{method.wire} needs an absolute path in {field!r}, found {path!r}"))

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
        error: errors.RequestError | None = None
        if not self.is_open and not may_come_first(method):
            error = errors.InvalidRequest("The first request has to be initialize", {"method": method.wire})
        elif method.paths and params is not None:
            error = _invalid_paths(method, params)
        if error is not None and self._guards == "warn":
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, error.message)
        return error if self._guards == "raise" else None

    def _check_capabilities(self, method: AnyMethod, params: Any, missing: _Missing) -> None:
        if method.exempt is not None and getattr(params, method.exempt) in self._created[method.exempt]:
            return
        for attribute, needs in missing.items():
            for tag in _tags_in(params, attribute):
                if tag in needs:
                    self._forbid(errors.CapabilityError(*needs[tag]))

    def _find_missing(self, method: AnyMethod) -> _Missing:
        missing = _Missing()
        if method.capability is not None and not self._has(method.capability):
            missing[""] = {"": (method.wire, self._path_of(method.capability))}
        for part, capability in method.content:
            if not self._has(capability):
                field, _, tag = part.partition(".")
                missing.setdefault(to_snake(field), {})[tag] = (f"{method.wire} with {part}", capability)
        return missing

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


def relative_paths(method: AnyMethod, params: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a method's params that hold a relative path, and the paths."""
    for field in method.paths:
        value: Any = getattr(params, field)
        items = as_array(value)
        for path in [value] if items is None else items:
            if isinstance(path, str) and not _ABSOLUTE.match(path):
                yield field, path


def version_in(message: Mapping[str, Any], name: str) -> int | None:
    """Return the version in a message that opens the connection, given its property; None if it is invalid."""
    value: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return None
    return int(value) if 0 <= value <= _HIGHEST_VERSION else None


def _is_advertised(message: Mapping[str, Any], steps: Sequence[str]) -> bool:
    """Return whether a message has a capability: true, an object, or a list that isn't empty."""
    value: Any = message
    for step in steps:
        value = (as_object(value) or {}).get(step)
    return value is True or as_object(value) is not None or bool(as_array(value))


def _invalid_paths(method: AnyMethod, params: Any) -> errors.InvalidParams | None:
    """Return the error for paths that are not absolute; None if all are."""
    fields = dict.fromkeys(field for field, _ in relative_paths(method, params))
    details = [{"path": wire_name(field), "message": "Input should be an absolute path"} for field in fields]
    return errors.InvalidParams(data={"errors": details}) if details else None


def _tags_in(params: Any, attribute: str) -> list[str]:
    """Return the tags of a field's values, and the empty tag if it has any value."""
    value: Any = getattr(params, attribute, None) if attribute else None
    if not value:
        return [] if attribute else [""]
    items = value if value.__class__ is list else [value]
    return ["", *[item if item.__class__ is str else getattr(item, "type", "") for item in items]]
