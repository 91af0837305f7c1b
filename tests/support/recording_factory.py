"""A factory that remembers the handler it made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

HandlerT = TypeVar("HandlerT")


class RecordingFactory(Generic[HandlerT]):
    """Makes a handler with another factory.

    Attributes:
        handler: the handler that was made last.
    """

    handler: HandlerT

    def __init__(self, factory: Callable[[Any], HandlerT]) -> None:
        self._factory = factory

    def __call__(self, remote: Any) -> HandlerT:
        self.handler = self._factory(remote)
        return self.handler
