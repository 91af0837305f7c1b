"""What the protocol allows: the state of `initialize`, and the guards that refuse messages (rules 25 to 29).

A connection asks before it sends a call and before it handles a message: whether it comes too early, lacks a capability
or has relative paths. The tables of methods say what each method needs; those of the profile, which methods open a
connection and which properties their messages have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from logging import ERROR, WARNING, getLogger
from typing import Any, TypeAlias

from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_json

from acp_runtime.errors import (
    CapabilityError,
    GuardError,
    InvalidParams,
    InvalidRequest,
    NotInitialized,
    ProtocolVersionMismatch,
    RelativePath,
    RequestError,
    UnsupportedProtocolVersion,
)
from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.logs import ThrottledLogger, log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.models.names import wire_name
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod, Capability, Request
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)
# For each field of a method's params, what needs a capability that the peer lacks, by the tag of its values: a text to
# show it, and the path of the capability. The empty tag stands for any value, the empty field for the method itself.
_Missing: TypeAlias = dict[str, dict[str, tuple[str, str]]]

_HIGHEST_VERSION = 2**16 - 1
# On POSIX, or beginning with a drive or a UNC share.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


class Initialization:
    """The messages of both sides that open the connection.

    Args:
        side: this side.
        options: with `guards` off, versions are not checked.

    Attributes:
        done: whether `initialize` was answered.
        peer: the peer's message, as plain JSON; empty before.
        peer_capabilities: its capabilities, as a model; None before.
        peer_info: its name and version, as a model; None before, or if it sent none.
        missing: for each method, what needs a capability that the peer has not advertised. The guards fill it in.
    """

    def __init__(self, side: Side[Any], options: Options) -> None:
        self._side = side
        self._profile = side.profile
        self._of_peer = side.profile.advertised["client" if side.role == "agent" else "agent"]
        self._checks_versions = options.guards != "off"
        self._advertised: Mapping[str, Any] | None = None
        self.missing: dict[AnyMethod, _Missing] = {}
        self.done: bool = False
        self.peer: Mapping[str, Any] = {}
        self.peer_capabilities: Any = None
        self.peer_info: Any = None

    def has(self, capability: Capability) -> bool:
        """Whether the peer advertised a capability."""
        return _is_advertised(self.peer, self._steps(capability))

    def path_of(self, capability: Capability) -> str:
        """Return the path of a capability in the peer's `initialize` message, to show it."""
        if isinstance(capability, str):
            return capability
        first, *steps = self._steps(capability)
        return first + "".join(f".{step}" if step.isidentifier() else f'["{step}"]' for step in steps)

    def _steps(self, capability: Capability) -> Sequence[str]:
        return capability.split(".") if isinstance(capability, str) else (self._of_peer[0], *capability)

    def refuse(self, version: int) -> UnsupportedProtocolVersion | None:
        """Return the error for a client that asks for another version; None if this side answers with its own."""
        own = self._profile.protocol_version
        if not self._checks_versions or not self._profile.refuses_lower or version >= own:
            return None
        return UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})

    def read_another_version(
        self, method: Request[Any, Any], id: RequestId, params: Any
    ) -> IncomingRequest | UnsupportedProtocolVersion | None:
        """Read the version in an opening request with invalid params, which may be for another version of the protocol.

        Returns:
            The request reduced to its version, the error that answers it, or None for this version or an invalid one.
        """
        version, own = version_in(as_object(params) or {}, self._profile.version), self._profile.protocol_version
        if not self._checks_versions or version is None or version == own:
            return None
        try:
            known = params_adapter(method).validate_json(to_json({self._profile.version: version}))
        except ValidationError:
            return UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})
        return self.refuse(version) or IncomingRequest(id, method.wire, known)

    def own_result(self, result: Any) -> Any:
        """Return the handler's result with this profile's version, the only one that this side supports (rule 26)."""
        attribute, own = self._profile.version_attribute, self._profile.protocol_version
        if self._checks_versions and getattr(result, attribute) != own:
            return result.model_copy(update={attribute: own})
        return result

    def record_peer(self, message: Any) -> None:
        """Record the peer's request or result that opens the connection."""
        capabilities, info = self._of_peer
        self.done = True
        self.missing.clear()
        self.peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)

    def check_version(self, result: Any) -> None:
        """Check the version in the peer's result, given as plain JSON, before anything else in it.

        Raises:
            ProtocolVersionMismatch: if it is not this profile's.
        """
        version = version_in(as_object(result) or {}, self._profile.version)
        if self._checks_versions and version is not None and version != self._profile.protocol_version:
            raise ProtocolVersionMismatch(version, self._profile.protocol_version)

    def advertise(self, handler: Handler, message: Any) -> None:
        """Record what this side advertises, once. Log the methods that it advertises or implements, but not both."""
        if self._advertised is not None:
            return
        self._advertised = advertised = to_plain_json(message)
        missing, unused = list[str](), list[str]()
        for method in self._side.requests.values():
            if isinstance(method.capability, str) and method.side == self._side.role:
                is_advertised = _is_advertised(advertised, method.capability.split("."))
                logins = as_array(advertised.get(method.capability)) or ()
                if logins and all((as_object(each) or {}).get("type") == "terminal" for each in logins):
                    continue  # the client runs these itself
                if is_advertised != self._side.overrides(handler, method):
                    (missing if is_advertised else unused).append(method.wire)
        name = type(handler).__name__
        if missing:
            message = "%s advertises methods that it does not implement; calls to them are answered with an error: %s"
            log(_logger, ERROR, message, name, ", ".join(missing))
        if unused:
            message = "%s implements methods that it does not advertise; peers will not call them: %s"
            log(_logger, WARNING, message, name, ", ".join(unused))


def _is_advertised(message: Mapping[str, Any], steps: Sequence[str]) -> bool:
    """Whether a message has a capability: true, an object, or a list that isn't empty."""
    value: Any = message
    for step in steps:
        value = (as_object(value) or {}).get(step)
    return value is True or as_object(value) is not None or bool(as_array(value))


def version_in(message: Mapping[str, Any], name: str) -> int | None:
    """Return the version in a message that opens the connection, given its property; None if it is invalid."""
    found: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(found, bool) or not (isinstance(found, int) or (isinstance(found, float) and found.is_integer())):
        return None
    return int(found) if 0 <= found <= _HIGHEST_VERSION else None


class Guards:
    """Checks the messages of one connection.

    Args:
        initialization: has the peer's capabilities.
        options: `guards` decides what happens to forbidden messages.
    """

    def __init__(self, initialization: Initialization, options: Options) -> None:
        self._initialization = initialization
        self._mode = options.guards
        self._created: set[tuple[str, str]] = set()
        self._log = ThrottledLogger(_logger)

    def check_call(self, method: AnyMethod, params: Any) -> None:
        """Check a message that is to be sent.

        Raises:
            NotInitialized, CapabilityError, RelativePath: if it may not be sent now and `Options.guards` is "raise".
        """
        if self._mode == "off" or method.side == "protocol":
            return
        if self._initialization.done:
            missing = self._initialization.missing.get(method)
            if missing is None:
                missing = self._initialization.missing[method] = self._find_missing(method)
            if missing and (
                method.exempt is None or (method.exempt, getattr(params, method.exempt)) not in self._created
            ):
                for attribute, needs in missing.items():
                    for tag in _tags_in(params, attribute):
                        if tag in needs:
                            self._forbid(CapabilityError(*needs[tag]))
        elif not may_come_first(method):
            self._forbid(
                NotInitialized(f"{method.wire} was called before initialize was answered. Await initialize first.")
            )
        for field, path in relative_paths(method, params) if method.paths else ():
            self._forbid(RelativePath(f"{method.wire} needs an absolute path in {field!r}, found {path!r}"))

    def refuse(self, method: AnyMethod, params: Any) -> RequestError | None:
        """Return the error that answers a forbidden incoming message; None if it may be handled.

        Args:
            method: its method.
            params: its params; None if they are invalid.
        """
        error: RequestError | None = None
        if not self._initialization.done and not may_come_first(method):
            error = InvalidRequest("The first request has to be initialize", {"method": method.wire})
        elif method.paths and params is not None:
            error = _invalid_paths(method, params)
        if error is not None and self._mode == "warn":
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, error.message)
        return error if self._mode == "raise" else None

    def supports(self, method: AnyMethod) -> bool:
        """Whether a call of a method is allowed, regardless of its params."""
        if not self._initialization.done:
            return may_come_first(method)
        return method.capability is None or self._initialization.has(method.capability)

    def record_result(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Record a session or terminal that the peer created or closed."""
        if method.creates is not None:
            self._created.add((method.creates, getattr(result, method.creates)))
        if method.ends is not None:
            self._created.discard((method.ends, getattr(params, method.ends)))

    def _find_missing(self, method: AnyMethod) -> _Missing:
        has, missing = self._initialization.has, _Missing()
        if method.capability is not None and not has(method.capability):
            missing[""] = {"": (method.wire, self._initialization.path_of(method.capability))}
        for part, capability in method.content:
            if not has(capability):
                field, _, tag = part.partition(".")
                missing.setdefault(to_snake(field), {})[tag] = (f"{method.wire} with {part}", capability)
        return missing

    def _forbid(self, error: GuardError) -> None:
        if self._mode == "raise":
            raise error
        self._log.log(WARNING, type(error).__name__, "%s", error)


def may_come_first(method: AnyMethod) -> bool:
    """Whether a method may be called before `initialize` was answered."""
    if method.side == "extension":
        return method.capability is None
    return method.side == "protocol" or (isinstance(method, Request) and method.opens)


def _invalid_paths(method: AnyMethod, params: Any) -> InvalidParams | None:
    """Return the error for paths that are not absolute; None if all are."""
    message = "Input should be an absolute path"
    fields = dict.fromkeys(field for field, _ in relative_paths(method, params))
    details = [{"path": wire_name(field), "message": message} for field in fields]
    return InvalidParams(data={"errors": details}) if details else None


def _tags_in(params: Any, attribute: str) -> list[str]:
    """Return the tags of a field's values, and the empty tag if it has any value."""
    value: Any = getattr(params, attribute, None) if attribute else None
    if not value:
        return [] if attribute else [""]
    items = value if value.__class__ is list else [value]
    return ["", *[each if each.__class__ is str else getattr(each, "type", "") for each in items]]


def relative_paths(method: AnyMethod, params: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a method's params that hold a relative path, and the paths."""
    for field in method.paths:
        value: Any = getattr(params, field)
        items = as_array(value)
        for path in [value] if items is None else items:
            if isinstance(path, str) and not _ABSOLUTE.match(path):
                yield field, path
