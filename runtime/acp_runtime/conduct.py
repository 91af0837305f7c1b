"""What ACP allows when: initialization, versions, capabilities, absolute paths (rules 25 to 29).

A connection asks before it sends and before it handles, and tells what was answered. No I/O, no tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from logging import WARNING, getLogger
from typing import Any

from pydantic.alias_generators import to_snake

from acp_runtime.encoding import decoded
from acp_runtime.errors import (
    CapabilityError,
    GuardError,
    InvalidParams,
    InvalidRequest,
    NotInitialized,
    ProtocolVersionMismatch,
    RelativePath,
    RequestError,
)
from acp_runtime.json_values import as_array, as_object
from acp_runtime.logs import Throttle
from acp_runtime.methods import AnyMethod, Profile, Request
from acp_runtime.options import Options
from acp_runtime.paths import path_fields, relative_paths
from acp_runtime.results import build_result

_logger = getLogger(__name__)

_OPENING = frozenset({"initialize", "proxy/initialize"})
# A session that is gone is closed, and deleted.
_GONE_IS_DONE = frozenset({"session/close", "session/delete"})
_RESOURCE_NOT_FOUND = -32002
# Whoever has a terminal may end it, whatever was advertised.
_ENDS_TERMINAL = frozenset({"terminal/kill", "terminal/release"})


@dataclass(frozen=True, slots=True)
class _Missing:
    """What the peer did not advertise of what a method needs.

    Attributes:
        capability: for the method itself; None if nothing is missing.
        content: for what is in its params, by attribute, then by tag (see `Method.content`), which is empty if anything
            there needs it.
    """

    capability: str | None
    content: tuple[tuple[str, dict[str, tuple[str, str]]], ...]


class Conduct:
    """The state of one connection as far as the protocol's rules need it.

    Args:
        profile: the version of the protocol.
        options: `guards` decides what happens to what is forbidden.
    """

    def __init__(self, profile: Profile, options: Options) -> None:
        self._profile = profile
        self._guards = options.guards
        self._initialized = False
        self._peer: Mapping[str, Any] = {}
        self._missing: dict[AnyMethod, _Missing] = {}
        self._terminals: set[str] = set()
        self._log = Throttle(_logger)

    def before_call(self, method: AnyMethod, params: Any) -> None:
        """Stop a message that may not be sent now.

        Raises:
            NotInitialized, CapabilityError, RelativePath: if guards raise.
        """
        if self._guards == "off" or method.side == "protocol":
            return
        if not self._initialized:
            if method.wire not in _OPENING:
                self._stop(NotInitialized(f"{method.wire} was called before initialize was answered"))
        elif not (method.wire in _ENDS_TERMINAL and params.terminal_id in self._terminals):
            self._check_capabilities(method, params)
        if not path_fields(params.__class__):
            return
        for field, path in relative_paths(params):
            self._stop(RelativePath(f"{method.wire} needs an absolute path in {field!r}, found {path!r}"))

    def refuse(self, method: AnyMethod, params: Any) -> RequestError | None:
        """The error that an incoming message is answered with instead of being handled; None if it may be handled."""
        if self._initialized and not path_fields(params.__class__):
            return None
        if self._guards == "off" or method.side == "protocol":
            return None
        refused: RequestError | None = None
        if not self._initialized and method.wire not in _OPENING:
            refused = InvalidRequest("The first request has to be initialize", {"method": method.wire})
        else:
            for field, _ in relative_paths(params):
                detail = {"path": field, "message": "Input should be an absolute path"}
                refused = InvalidParams(data={"errors": [detail]})
        if refused is not None and self._guards == "warn":
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, refused.message)
            return None
        return refused

    def handled(self, method: Request[Any, Any], params: Any, result: Any) -> Any:
        """Take note of what a handler answered. Gives the result to send.

        An agent of this profile speaks its version alone, so that is what `initialize` answers (rule 26).
        """
        if method.wire != "initialize":
            return result
        self._meet(params)
        if self._guards != "off" and result.protocol_version != self._profile.protocol_version:
            return result.model_copy(update={"protocol_version": self._profile.protocol_version})
        return result

    def answered(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Take note of what the peer answered.

        Raises:
            ProtocolVersionMismatch: if the agent wants another version.
        """
        if method.wire == "initialize":
            offered = result.protocol_version
            if self._guards != "off" and offered != self._profile.protocol_version:
                raise ProtocolVersionMismatch(offered, self._profile.protocol_version)
            self._meet(result)
        elif method.wire == "terminal/create":
            self._terminals.add(result.terminal_id)
        elif method.wire == "terminal/release":
            self._terminals.discard(params.terminal_id)

    def excuse(self, method: Request[Any, Any], error: RequestError) -> Any:
        """The result that an error of the peer's counts as, None if it is an error."""
        if method.wire in _GONE_IS_DONE and error.code == _RESOURCE_NOT_FOUND:
            return build_result(method, b"{}")
        return None

    def _meet(self, peer: Any) -> None:
        """Both sides have said in `initialize` what they can do."""
        self._initialized = True
        self._peer = decoded(peer)
        self._missing.clear()

    def _check_capabilities(self, method: AnyMethod, params: Any) -> None:
        missing = self._missing.get(method)
        if missing is None:
            self._missing[method] = missing = self._work_out(method)
        if missing.capability is not None:
            self._stop(CapabilityError(method.wire, missing.capability))
        for attribute, tags in missing.content:
            for tag in _tags_in(getattr(params, attribute, None)):
                if tag in tags:
                    part, capability = tags[tag]
                    self._stop(CapabilityError(f"{method.wire} with {part}", capability))

    def _work_out(self, method: AnyMethod) -> _Missing:
        content: dict[str, dict[str, tuple[str, str]]] = {}
        for part, capability in method.content:
            field, _, tag = part.partition(".")
            if not self._has(capability):
                content.setdefault(to_snake(field), {})[tag] = (part, capability)
        needed = method.capability
        return _Missing(
            needed if needed is not None and not self._has(needed) else None,
            tuple(content.items()),
        )

    def _has(self, capability: str) -> bool:
        """Whether the peer advertised it: true, an object, a list that isn't empty. Omitted means no."""
        value: Any = self._peer
        for step in capability.split("."):
            value = (as_object(value) or {}).get(step)
        return value is True or as_object(value) is not None or bool(as_array(value))

    def _stop(self, error: GuardError) -> None:
        if self._guards == "raise":
            raise error
        self._log.log(WARNING, type(error).__name__, "%s", error)


def _tags_in(value: Any) -> list[str]:
    """The tags of what a field holds; the empty one stands for anything at all."""
    if not value:
        return []
    items = as_array(value)
    return ["", value] if items is None else ["", *[getattr(item, "type", "") for item in items]]
