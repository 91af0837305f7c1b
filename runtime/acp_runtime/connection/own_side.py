"""This side of a connection: its methods, and the handler that the factory makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_runtime.stubs.methods import AnyMethod, Profile
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side


class OwnSide:
    """One side with its handler, which comes last: the factory makes it from the proxy.

    Attributes:
        side: the methods that it handles and calls.
        profile: its version of the protocol.
        handler: handles its methods; None until the factory has returned it.
    """

    def __init__(self, side: Side[Any]) -> None:
        self.side: Side[Any] = side
        self.profile: Profile = side.profile
        self.handler: Any = None

    def make_handler(self, factory: Callable[[Any], Handler], remote: Any) -> None:
        """Call the factory with the proxy. Raises what it raises."""
        self.handler = self.side.make_handler(factory, remote)

    def overrides(self, method: AnyMethod) -> bool:
        """Return whether the handler overrides the default of a method."""
        return self.side.overrides(self.handler, method)
