"""One side of a connection as data: what it handles, and the proxy for the other side. Generated code fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request, Role
from acp_runtime.stubs.roles import Channel, Handler

RemoteT = TypeVar("RemoteT")


@dataclass(frozen=True, eq=False)
class Side(Generic[RemoteT]):
    """A side. There is one instance of each, so it is its own key.

    Attributes:
        role: who it is.
        profile: the version of the protocol it speaks.
        requests: those it handles, by their names on the wire.
        notifications: those it handles, likewise.
        remote: makes the proxy for the other side.
        base: the base class of its handlers, whose methods are the defaults.
    """

    role: Role
    profile: Profile
    requests: Mapping[str, Request[Any, Any]]
    notifications: Mapping[str, Notification[Any]]
    remote: Callable[[Channel], RemoteT]
    base: type[Handler]

    def overrides(self, handler: Handler, method: AnyMethod) -> bool:
        """Whether a handler implements a method itself."""
        default = getattr(self.base, method.name, None)
        return getattr(getattr(handler, method.name, None), "__func__", None) is not default
