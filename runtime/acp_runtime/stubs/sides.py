"""One side of a connection as data: the methods it handles, and the proxy for its peer. Generated code creates them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import CoroutineType
from typing import Any, Generic, TypeVar

from acp_runtime.stubs.extensions import Handled, handled_method
from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request, Role
from acp_runtime.stubs.roles import Channel, Handler, handled_by

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
            TypeError: if it can't be called with a proxy, or returns no handler of this side but that of the other
                side, None or a coroutine, for example.
        """
        given: object = factory
        if isinstance(given, Handler):
            name = type(given).__name__
            raise TypeError(f"Pass the class {name}, or a function that makes its instance, not an instance.")
        try:
            handler = factory(remote)
        except TypeError as error:
            if not _takes_one_argument(factory):
                name, proxy = getattr(factory, "__qualname__", repr(factory)), type(remote).__name__
                raise TypeError(f"{name} must take one argument, the {proxy} that it may call: {error}") from error
            raise
        if isinstance(handler, self.base) or type(handler) is Handler:  # which is for no side yet
            return handler
        if isinstance(handler, CoroutineType):
            handler.close()  # or Python would also warn that nobody awaited it
            raise TypeError("The factory is a coroutine function. It must be an ordinary one that returns the handler.")
        name = f"{self.base.__module__.rpartition('.')[0]}.{self.base.__name__}"
        raise TypeError(f"The factory returned {handler!r:.200} instead of an instance of {name}.")

    def overrides(self, handler: Handler, method: AnyMethod) -> bool:
        """Return whether a handler overrides the default of a method."""
        default = getattr(self.base, method.name, None)
        return getattr(getattr(handler, method.name, None), "__func__", None) is not default

    def with_extensions(self, handler: Handler) -> Side[RemoteT]:
        """Return this side with the extension methods of a handler."""
        handled = handled_by(handler)
        return _with_extensions(self, handled) if handled else self


@cache
def _with_extensions(side: Side[Any], handled: Handled) -> Side[Any]:
    methods = [handled_method(extension, side.profile, name) for name, extension in handled]
    return replace(
        side,
        requests={**side.requests, **{each.wire: each for each in methods if isinstance(each, Request)}},
        notifications={**side.notifications, **{each.wire: each for each in methods if isinstance(each, Notification)}},
    )


def _takes_one_argument(factory: Callable[..., object]) -> bool:
    try:
        inspect.signature(factory).bind(None)
    except TypeError:
        return False
    except ValueError:  # it has no signature that Python knows
        return True
    return True
