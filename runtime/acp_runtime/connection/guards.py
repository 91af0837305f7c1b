"""The guards, which refuse messages that the protocol forbids (rules 25, 27 and 28).

A connection asks before it sends a call and before it handles a message: whether it comes too early, lacks a capability
or has relative paths. The tables of methods say what each method needs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from logging import WARNING, getLogger
from typing import Any

from pydantic.alias_generators import to_snake

from acp_runtime import errors
from acp_runtime.connection.both_sides import BothSides, Missing
from acp_runtime.connection.ids import RecentIds
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import as_array, wire_name
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod, Request

_logger = getLogger(__name__)
# On POSIX, or beginning with a drive or a UNC share.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


class Guards:
    """Checks the messages of one connection.

    Args:
        sides: has the peer's capabilities.
        options: `guards` decides what happens to forbidden messages.
    """

    def __init__(self, sides: BothSides, options: Options) -> None:
        self._sides = sides
        self._mode = options.guards
        # The sessions and terminals that the peer has created, by the field that names them.
        self._created: defaultdict[str, RecentIds] = defaultdict(RecentIds)
        self._log = ThrottledLogger(_logger)

    def check_call(self, method: AnyMethod, params: Any) -> None:
        """Check a message that is to be sent.

        Raises:
            NotInitialized, CapabilityError, RelativePath: if it may not be sent now and `Options.guards` is "raise".
        """
        if self._mode == "off" or method.side == "protocol":
            return
        if self._sides.is_open:
            missing = self._sides.missing.get(method)
            if missing is None:
                missing = self._sides.missing[method] = self._find_missing(method)
            if missing and (
                method.exempt is None or getattr(params, method.exempt) not in self._created[method.exempt]
            ):
                for attribute, needs in missing.items():
                    for tag in _tags_in(params, attribute):
                        if tag in needs:
                            self._forbid(errors.CapabilityError(*needs[tag]))
        elif not may_come_first(method):
            early = f"{method.wire} was called before initialize was answered. Await initialize first."
            self._forbid(errors.NotInitialized(early))
        for field, path in relative_paths(method, params) if method.paths else ():
            self._forbid(errors.RelativePath(f"{method.wire} needs an absolute path in {field!r}, found {path!r}"))

    def refuse(self, method: AnyMethod, params: Any) -> errors.RequestError | None:
        """Return the error that answers a forbidden incoming message; None if it may be handled.

        Args:
            method: its method.
            params: its params; None if they are invalid.
        """
        error: errors.RequestError | None = None
        if not self._sides.is_open and not may_come_first(method):
            error = errors.InvalidRequest("The first request has to be initialize", {"method": method.wire})
        elif method.paths and params is not None:
            error = _invalid_paths(method, params)
        if error is not None and self._mode == "warn":
            self._log.log(WARNING, "refuse", "The peer broke the protocol with %s: %s", method.wire, error.message)
        return error if self._mode == "raise" else None

    def supports(self, method: AnyMethod) -> bool:
        """Whether a call of a method is allowed, regardless of its params."""
        if not self._sides.is_open:
            return may_come_first(method)
        return method.capability is None or self._sides.has(method.capability)

    def record_result(self, method: Request[Any, Any], params: Any, result: Any) -> None:
        """Record a session or terminal that the peer created or closed."""
        if method.creates is not None:
            self._created[method.creates].add(getattr(result, method.creates))
        if method.ends is not None:
            self._created[method.ends].discard(getattr(params, method.ends))

    def _find_missing(self, method: AnyMethod) -> Missing:
        has, missing = self._sides.has, Missing()
        if method.capability is not None and not has(method.capability):
            missing[""] = {"": (method.wire, self._sides.path_of(method.capability))}
        for part, capability in method.content:
            if not has(capability):
                field, _, tag = part.partition(".")
                missing.setdefault(to_snake(field), {})[tag] = (f"{method.wire} with {part}", capability)
        return missing

    def _forbid(self, error: errors.GuardError) -> None:
        if self._mode == "raise":
            raise error
        self._log.log(WARNING, type(error).__name__, "%s", error)


def may_come_first(method: AnyMethod) -> bool:
    """Whether a method may be called before `initialize` was answered."""
    if method.side == "extension":
        return method.capability is None
    return method.side == "protocol" or (isinstance(method, Request) and method.opens)


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


def relative_paths(method: AnyMethod, params: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a method's params that hold a relative path, and the paths."""
    for field in method.paths:
        value: Any = getattr(params, field)
        items = as_array(value)
        for path in [value] if items is None else items:
            if isinstance(path, str) and not _ABSOLUTE.match(path):
                yield field, path
