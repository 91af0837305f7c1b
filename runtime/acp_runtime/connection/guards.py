"""Guards: refuse messages that come too early, lack a capability or have relative paths (rules 25 to 29).

A connection asks before it sends a call and before it handles a message. The tables of methods say what each method
needs.
"""

from __future__ import annotations

from logging import WARNING, getLogger
from typing import Any, NamedTuple

from pydantic.alias_generators import to_snake

from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.paths import relative_paths
from acp_runtime.errors import (
    CapabilityError,
    GuardError,
    InvalidParams,
    InvalidRequest,
    NotInitialized,
    RelativePath,
    RequestError,
)
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.names import wire_name
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod, Request

_logger = getLogger(__name__)


class _Missing(NamedTuple):
    """The capabilities that a method needs and the peer did not advertise.

    Attributes:
        capability: the one for the method itself; None if it needs none or has it.
        content: those for parts of its params, by attribute, then by tag (see `Method.content`); the empty tag stands
            for any value.
    """

    capability: str | None
    content: tuple[tuple[str, dict[str, tuple[str, str]]], ...]


class Guards:
    """Checks the messages of one connection.

    Args:
        initialization: has the peer's capabilities.
        options: `guards` decides what happens to forbidden messages.
    """

    def __init__(self, initialization: Initialization, options: Options) -> None:
        self._initialization = initialization
        self._mode = options.guards
        self._missing: dict[AnyMethod, _Missing] = {}
        # Methods that the peer's capabilities allow with any params.
        self._unrestricted: set[AnyMethod] = set()
        self._created: set[tuple[str, str]] = set()
        self._log = ThrottledLogger(_logger)

    def check_call(self, method: AnyMethod, params: Any) -> None:
        """Check a message that is to be sent.

        Raises:
            NotInitialized, CapabilityError, RelativePath: if it may not be sent now and `Options.guards` is "raise".
        """
        if self._mode == "off" or method.side == "protocol":
            return
        if not self._initialization.done:
            if not may_come_first(method):
                self._forbid(
                    NotInitialized(f"{method.wire} was called before initialize was answered. Await initialize first.")
                )
        elif method not in self._unrestricted and (
            method.exempt is None or (method.exempt, getattr(params, method.exempt)) not in self._created
        ):
            self._check_capabilities(method, params)
        if method.paths:
            for field, path in relative_paths(method, params):
                self._forbid(RelativePath(f"{method.wire} needs an absolute path in {field!r}, found {path!r}"))

    def refuse(self, method: AnyMethod, params: Any) -> RequestError | None:
        """Return the error that answers a forbidden incoming message; None if it may be handled."""
        if self._initialization.done and not method.paths:
            return None
        early = self.refuse_early(method)
        if early is not None or self._mode == "off":
            return early
        return self._refused(method, _invalid_paths(method, params))

    def refuse_early(self, method: AnyMethod) -> RequestError | None:
        """Return the error for a message that was received before `initialize` was answered; None if it is allowed."""
        if self._initialization.done or self._mode == "off" or method.side == "protocol" or may_come_first(method):
            return None
        return self._refused(method, InvalidRequest("The first request has to be initialize", {"method": method.wire}))

    def _refused(self, method: AnyMethod, refused: RequestError | None) -> RequestError | None:
        if refused is not None and self._mode == "warn":
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, refused.message)
            return None
        return refused

    def supports(self, method: AnyMethod) -> bool:
        """Whether a call of a method is allowed, regardless of its params."""
        if method.side == "protocol" or not self._initialization.done:
            return method.side == "protocol" or may_come_first(method)
        return method.capability is None or self._initialization.has(method.capability)

    def record_result(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Record a session or terminal that the peer created or closed."""
        if method.creates is not None:
            self._created.add((method.creates, getattr(result, method.creates)))
        if method.ends is not None:
            self._created.discard((method.ends, getattr(params, method.ends)))

    def capabilities_changed(self) -> None:
        """Forget what was missing: the peer has advertised its capabilities."""
        self._missing.clear()
        self._unrestricted.clear()

    def _check_capabilities(self, method: AnyMethod, params: Any) -> None:
        missing = self._missing.get(method)
        if missing is None:
            self._missing[method] = missing = self._find_missing(method)
            if missing == _Missing(None, ()):
                self._unrestricted.add(method)
        if missing.capability is not None:
            self._forbid(CapabilityError(method.wire, missing.capability))
        for attribute, tags in missing.content:
            value = getattr(params, attribute, None)
            if value:
                for part, capability in _parts_of(value, tags):
                    self._forbid(CapabilityError(f"{method.wire} with {part}", capability))

    def _find_missing(self, method: AnyMethod) -> _Missing:
        has, path_of = self._initialization.has, self._initialization.path_of
        content: dict[str, dict[str, tuple[str, str]]] = {}
        for part, capability in method.content:
            field, _, tag = part.partition(".")
            if not has(capability):
                content.setdefault(to_snake(field), {})[tag] = (part, capability)
        needed = method.capability
        return _Missing(path_of(needed) if needed is not None and not has(needed) else None, tuple(content.items()))

    def _forbid(self, error: GuardError) -> None:
        if self._mode == "raise":
            raise error
        self._log.log(WARNING, type(error).__name__, "%s", error)


def may_come_first(method: AnyMethod) -> bool:
    """Whether a method may be called before `initialize` was answered."""
    if method.side == "extension":
        return method.capability is None
    return isinstance(method, Request) and method.opens


def _invalid_paths(method: AnyMethod, params: Any) -> InvalidParams | None:
    """Return the error for paths that are not absolute; None if all are."""
    message = "Input should be an absolute path"
    fields = dict.fromkeys(field for field, _ in relative_paths(method, params))
    details = [{"path": wire_name(field), "message": message} for field in fields]
    return InvalidParams(data={"errors": details}) if details else None


def _parts_of(value: Any, tags: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the parts of a field's value that need a capability, each with the capability."""
    found = [tags[""]] if "" in tags else []
    for item in value if value.__class__ is list else (value,):
        tag = item if item.__class__ is str else getattr(item, "type", "")
        if tag and tag in tags:
            found.append(tags[tag])
    return found
