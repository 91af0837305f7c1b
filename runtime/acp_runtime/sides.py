"""One side of a connection as data: what it handles, and the proxy for the other side. Generated code fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from acp_runtime.methods import Notification, Profile, Request, Role
from acp_runtime.roles import Channel

RemoteT = TypeVar("RemoteT")


@dataclass(frozen=True)
class Side(Generic[RemoteT]):
    """A side.

    Attributes:
        role: who it is.
        profile: the version of the protocol it speaks.
        requests: those it handles, by their names on the wire.
        notifications: those it handles, likewise.
        remote: makes the proxy for the other side.
    """

    role: Role
    profile: Profile
    requests: Mapping[str, Request[Any, Any]]
    notifications: Mapping[str, Notification[Any]]
    remote: Callable[[Channel], RemoteT]
