"""The state of `initialize`: whether it was answered, its versions, and what each side advertised.

The methods that open a connection and the properties of their messages are in the tables of the profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from logging import ERROR, getLogger
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_json

from acp_runtime.errors import ProtocolVersionMismatch, UnsupportedProtocolVersion
from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.logs import log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.options import Options
from acp_runtime.stubs.methods import Capability, Request
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)
_HIGHEST_VERSION = 2**16 - 1


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
    """

    def __init__(self, side: Side[Any], options: Options) -> None:
        self._side = side
        self._profile = side.profile
        self._of_peer = side.profile.advertised["client" if side.role == "agent" else "agent"]
        self._checks_versions = options.guards != "off"
        self._advertised: Mapping[str, Any] | None = None
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

    def refuse(self, params: Any) -> UnsupportedProtocolVersion | None:
        """Return the error for a client that asks for another version; None if this side answers with its own."""
        return self._refuse_version(getattr(params, self._profile.version_attribute))

    def read_another_version(
        self, method: Request[Any, Any], id: RequestId, params: Any
    ) -> IncomingRequest | UnsupportedProtocolVersion | None:
        """Read the version in an opening request with invalid params, which may be for another version of the protocol.

        Returns:
            The request reduced to its version, the error that answers it, or None for this version or an invalid one.
        """
        version = _version(as_object(params) or {}, self._profile.version)
        if not self._checks_versions or version is None or version == self._profile.protocol_version:
            return None
        try:
            known = params_adapter(method).validate_json(to_json({self._profile.version: version}))
        except ValidationError:
            return UnsupportedProtocolVersion(data={"supported": [self._profile.protocol_version]})
        return self._refuse_version(version) or IncomingRequest(id, method.wire, known)

    def own_result(self, result: Any) -> Any:
        """Return the handler's result with this profile's version, the only one that this side supports (rule 26)."""
        attribute, own = self._profile.version_attribute, self._profile.protocol_version
        if self._checks_versions and getattr(result, attribute) != own:
            return result.model_copy(update={attribute: own})
        return result

    def record_exchange(self, handler: Handler, params: Any, result: Any) -> None:
        """Record the peer's opening request and this side's result."""
        self.record_peer(params)
        self.advertise(handler, result)

    def record_peer(self, message: Any) -> None:
        """Record the peer's request or result that opens the connection."""
        capabilities, info = self._of_peer
        self.done = True
        self.peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)

    def check_version(self, result: Any) -> None:
        """Check the version in the peer's result, given as plain JSON, before anything else in it.

        Raises:
            ProtocolVersionMismatch: if it is not this profile's.
        """
        version = _version(as_object(result) or {}, self._profile.version)
        if self._checks_versions and version is not None and version != self._profile.protocol_version:
            raise ProtocolVersionMismatch(version, self._profile.protocol_version)

    def advertise(self, handler: Handler, message: Any) -> None:
        """Record what this side advertises, once. Log at ERROR those methods that its handler doesn't implement."""
        if self._advertised is not None:
            return
        self._advertised = advertised = to_plain_json(message)
        missing = [
            method.wire
            for method in self._side.requests.values()
            if isinstance(method.capability, str)
            and method.side == self._side.role
            and _is_advertised(advertised, method.capability.split("."))
            and not self._side.overrides(handler, method)
        ]
        if missing:
            log(
                _logger,
                ERROR,
                "%s advertises methods that it does not implement; calls to them are answered with an error: "
                + ", ".join(missing),
                type(handler).__name__,
            )

    def _refuse_version(self, version: int) -> UnsupportedProtocolVersion | None:
        own = self._profile.protocol_version
        if not self._checks_versions or not self._profile.refuses_lower or version >= own:
            return None
        return UnsupportedProtocolVersion(data={"supported": [own]})


def _is_advertised(message: Mapping[str, Any], steps: Sequence[str]) -> bool:
    """Whether a message has a capability: true, an object, or a list that isn't empty."""
    value: Any = message
    for step in steps:
        value = (as_object(value) or {}).get(step)
    return value is True or as_object(value) is not None or bool(as_array(value))


def _version(message: Mapping[str, Any], name: str) -> int | None:
    found: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(found, bool) or not (isinstance(found, int) or (isinstance(found, float) and found.is_integer())):
        return None
    return int(found) if 0 <= found <= _HIGHEST_VERSION else None
