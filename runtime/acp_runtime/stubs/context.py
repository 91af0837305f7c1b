"""The message that the running code handles. The connection sets it, the base of handlers reads it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from acp_runtime.stubs.methods import AnyMethod


class Handled(Protocol):
    """A message whose handler runs.

    Attributes:
        done: whether its handler has finished. Tasks that the handler started may still run in its context.
    """

    done: bool

    def default(self, method: AnyMethod, params: Any, /) -> None:
        """Handle a notification as the connection does by default."""
        ...


current: ContextVar[Handled | None] = ContextVar("acp_runtime.current", default=None)
