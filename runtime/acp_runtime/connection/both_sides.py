"""Both sides of a connection, and what they advertise when it opens (rules 25, 27 and 30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from logging import ERROR, WARNING, getLogger
from typing import Any, TypeAlias

from pydantic.alias_generators import to_snake

from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.logs import log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.stubs.methods import AnyMethod, Capability, Profile
from acp_runtime.stubs.sides import Side

# For each field of a method's params, what needs a capability that the peer lacks, by the tag of its values: a text to
# show it, and the path of the capability. The empty tag stands for any value, the empty field for the method itself.
Missing: TypeAlias = dict[str, dict[str, tuple[str, str]]]

_logger = getLogger(__name__)


class BothSides:
    """This side with its handler, and what the peer has advertised.

    Args:
        side: the methods that this side handles and calls.

    Attributes:
        own: this side.
        profile: its version of the protocol.
        handler: handles its methods; None until the factory has returned it.
        is_open: whether `initialize` was answered.
        peer: the peer's message that opened the connection, as plain JSON; empty before.
        peer_capabilities: its capabilities, as a model; None before.
        peer_info: its name and version, as a model; None before, or if it sent none.
        missing: for each method, what needs a capability that the peer has not advertised. The guards fill it in.
    """

    def __init__(self, side: Side[Any]) -> None:
        self._of_peer = side.profile.advertised["client" if side.role == "agent" else "agent"]
        self._has_advertised = False
        self.own: Side[Any] = side
        self.profile: Profile = side.profile
        self.handler: Any = None
        self.missing: dict[AnyMethod, Missing] = {}
        self.is_open: bool = False
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

    def record_peer(self, message: Any) -> None:
        """Record the peer's request or result that opens the connection."""
        capabilities, info = self._of_peer
        self.is_open = True
        self.missing.clear()
        self.peer = to_plain_json(message)
        self.peer_capabilities = getattr(message, to_snake(capabilities), None)
        self.peer_info = getattr(message, to_snake(info), None)

    def advertise(self, message: Any) -> None:
        """Record what this side advertises, once. Log the methods that it advertises or implements, but not both."""
        if self._has_advertised or self.handler is None:
            return
        self._has_advertised, advertised = True, to_plain_json(message)
        missing, unused = list[str](), list[str]()
        for method in self.own.requests.values():
            if isinstance(method.capability, str) and method.side == self.own.role:
                is_advertised = _is_advertised(advertised, method.capability.split("."))
                logins = as_array(advertised.get(method.capability)) or ()
                if logins and all((as_object(login) or {}).get("type") == "terminal" for login in logins):
                    continue  # the client runs these itself
                if is_advertised != self.own.overrides(self.handler, method):
                    (missing if is_advertised else unused).append(method.wire)
        name = type(self.handler).__name__
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
