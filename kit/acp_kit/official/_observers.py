"""Shows the messages of a connection to its observers."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from acp.connection import StreamDirection, StreamEvent


class Observers:
    """The observers of one connection.

    Args:
        observers: the functions, which may be asynchronous.
    """

    def __init__(self, observers: Iterable[Callable[[StreamEvent], Any]]) -> None:
        self._observers = tuple(observers)
        self._tasks = set[asyncio.Future[Any]]()

    def on_frame(self, direction: str, line: bytes, _: float) -> None:
        """Show a line to the observers, if it is JSON."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        event = StreamEvent(StreamDirection.INCOMING if direction == "in" else StreamDirection.OUTGOING, message)
        for observer in self._observers:
            try:
                result = observer(event)
            except Exception:
                logging.exception("Stream observer failed")
                continue
            if inspect.isawaitable(result):
                task = asyncio.ensure_future(result)
                self._tasks.add(task)
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logging.error("Stream observer coroutine failed", exc_info=error)
