"""One side of a connection as data: the methods it handles, and the proxy for its peer. Generated code creates them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, TypeVar, cast

from acp_runtime.stubs.extensions import Handled, handled_method
from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request, Role
from acp_runtime.stubs.roles import Channel, Handler

RemoteT = TypeVar("RemoteT")


@dataclass(frozen=True, eq=False)
class Side(Generic[RemoteT]):
    """A side. There is one instance for each, so sides are compared by identity.

    Attributes:
        role: agent or client.
        profile: the profile it belongs to.
        requests: the requests it handles, by their names on the wire.
        notifications: the notifications it handles, by their names on the wire.
        remote: the class of the proxy for the peer, with the tables of the methods that the peer handles.
        base: the base class of its handlers, which has the default methods.
    """

    role: Role
    profile: Profile
    requests: Mapping[str, Request[Any, Any]]
    notifications: Mapping[str, Notification[Any]]
    remote: Callable[[Channel], RemoteT]
    base: type[Handler]

    def make_handler(self, factory: Callable[[Any], Any], remote: RemoteT) -> Handler:
        """Call a factory, and check what it returns.

        Raises:
            TypeError: if it is a handler instead of a factory, or returns something else than a handler of this side,
                such as one of the other side, or None.
        """
        given = cast("object", factory)
        if isinstance(given, Handler) and not callable(given):
            name = type(given).__name__
            raise TypeError(
                f"Pass the class {name} itself, or a function that returns an instance, not the instance {name}(...). "
                "It is called with the proxy for the peer."
            )
        try:
            handler = factory(remote)
        except TypeError as error:
            place = error.__traceback__
            if place is not None and place.tb_next is None and "argument" in str(error):  # raised by the call itself
                error.args = (f"{error}. The factory is called with one argument, the proxy for the peer.",)
            elif hidden := _hidden_bases(factory):
                error.args = (f"{error}. Write {' and '.join(hidden)} before {self.base.__name__} in its bases.",)
            raise
        if isinstance(handler, self.base) or type(handler) is Handler:  # which is for no side yet
            return handler
        name = f"{self.base.__module__.rpartition('.')[0]}.{self.base.__name__}"
        raise TypeError(f"The factory returned {handler!r:.200} instead of an instance of {name}.")

    def overrides(self, handler: Handler, method: AnyMethod) -> bool:
        """Return whether a handler overrides the default of a method."""
        default = getattr(self.base, method.name, None)
        return getattr(getattr(handler, method.name, None), "__func__", None) is not default

    def with_extensions(self, handler: Handler) -> Side[RemoteT]:
        """Return this side with the extension methods of a handler."""
        handled: Handled = getattr(type(handler), "_acp_handled", ())
        return _with_extensions(self, handled) if handled else self


def _hidden_bases(cls: Any) -> list[str]:
    """Return the names of base classes whose handlers are hidden by the abstract methods of an earlier base."""
    missing: Collection[str] = getattr(cls, "__abstractmethods__", ())
    return [
        base.__name__
        for base in getattr(cls, "__mro__", ())
        if not issubclass(base, Handler) and any(name in vars(base) for name in missing)
    ]


@cache
def _with_extensions(side: Side[Any], handled: Handled) -> Side[Any]:
    methods = [handled_method(extension, side.profile, name) for name, extension in handled]
    return replace(
        side,
        requests={**side.requests, **{ext.wire: ext for ext in methods if isinstance(ext, Request)}},
        notifications={**side.notifications, **{ext.wire: ext for ext in methods if isinstance(ext, Notification)}},
    )
