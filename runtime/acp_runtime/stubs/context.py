"""Which message the code that runs is handling, for the base of handlers. The connection sets it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from acp_runtime.stubs.methods import AnyMethod


class Handled(Protocol):
    """A message whose handler runs.

    Attributes:
        done: whether its handler has ended; tasks that it started may still run in its context.
    """

    done: bool

    def default(self, method: AnyMethod, params: Any, /) -> None:
        """The connection's default handling of a notification."""
        ...


current: ContextVar[Handled | None] = ContextVar("acp_runtime.current", default=None)
