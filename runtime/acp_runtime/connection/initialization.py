"""How a connection begins: whether `initialize` was answered, with which version, and what each side said of itself.

The methods that open a connection, and the properties of their messages, are in the tables of the profile.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from acp_runtime.stubs.methods import Request
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)
_HIGHEST_VERSION = 2**16 - 1


class Initialization:
    """What both sides have said in the messages that open the connection.

    Args:
        side: this side.
        options: with `guards` off, versions are not looked at.

    Attributes:
        done: whether it was answered.
        peer: what the peer said, as JSON.
        peer_capabilities: what it can do, as a model; None before.
        peer_info: what it is, as a model; None before, or if it did not say.
    """

    def __init__(self, side: Side[Any], options: Options) -> None:
        self._side = side
        self._profile = side.profile
        self._checks_versions = options.guards != "off"
        self._advertised: Mapping[str, Any] | None = None
        self.done: bool = False
        self.peer: Mapping[str, Any] = {}
        self.peer_capabilities: Any = None
        self.peer_info: Any = None

    def has(self, capability: str) -> bool:
        """Whether the peer advertised a capability."""
        return is_advertised(self.peer, capability)

    def refuse(self, params: Any) -> UnsupportedProtocolVersion | None:
        """The error for a client that wants a version this agent doesn't have; None if it is answered with another."""
        return self._refuse_version(getattr(params, self._profile.version_attribute))

    def read_another_version(
        self, method: Request[Any, Any], id: RequestId, params: Any
    ) -> IncomingRequest | UnsupportedProtocolVersion | None:
        """An opening request with invalid params: of another version of the protocol, they are read as far as needed.

        Returns:
            The request with its version alone, the error to answer it with, or None if it is just invalid.
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
        """The result to send of what a handler has returned.

        An agent of this profile speaks its version alone, so that is what it answers (rule 26).
        """
        attribute, own = self._profile.version_attribute, self._profile.protocol_version
        if self._checks_versions and getattr(result, attribute) != own:
            return result.model_copy(update={attribute: own})
        return result

    def record_request(self, handler: Handler, params: Any, result: Any) -> None:
        """Take note of what the peer has asked and a handler has answered."""
        self._record(params)
        self.advertise(handler, result)

    def check_version(self, result: Any) -> None:
        """Look at the version in the peer's answer, as plain JSON, before anything else in it.

        Raises:
            ProtocolVersionMismatch: if it is not this profile's.
        """
        version = _version(as_object(result) or {}, self._profile.version)
        if self._checks_versions and version is not None and version != self._profile.protocol_version:
            raise ProtocolVersionMismatch(version, self._profile.protocol_version)

    def record_result(self, result: Any) -> None:
        """Take note of what the peer answered."""
        self._record(result)

    def advertise(self, handler: Handler, message: Any) -> None:
        """This side says what it can do: log at ERROR, once, what of that its handler doesn't implement."""
        if self._advertised is not None:
            return
        self._advertised = said = to_plain_json(message)
        missing = [
            method.wire
            for method in self._side.requests.values()
            if method.capability is not None
            and method.side == self._side.role
            and is_advertised(said, method.capability)
            and not self._side.overrides(handler, method)
        ]
        if missing:
            log(
                _logger,
                ERROR,
                "%s advertises methods that it does not implement, calls of them are answered with an error: "
                + ", ".join(missing),
                type(handler).__name__,
            )

    def _refuse_version(self, version: int) -> UnsupportedProtocolVersion | None:
        own = self._profile.protocol_version
        if not self._checks_versions or not self._profile.refuses_lower or version >= own:
            return None
        return UnsupportedProtocolVersion(data={"supported": [own]})

    def _record(self, message: Any) -> None:
        capabilities, info = self._profile.advertised["client" if self._side.role == "agent" else "agent"]
        self.done = True
        self.peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)


def is_advertised(message: Mapping[str, Any], capability: str) -> bool:
    """Whether a message has a capability: true, an object, a list that isn't empty. Omitted means no."""
    value: Any = message
    for step in capability.split("."):
        value = (as_object(value) or {}).get(step)
    return value is True or as_object(value) is not None or bool(as_array(value))


def _version(message: Mapping[str, Any], name: str) -> int | None:
    found: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(found, bool) or not (isinstance(found, int) or (isinstance(found, float) and found.is_integer())):
        return None
    return int(found) if 0 <= found <= _HIGHEST_VERSION else None
