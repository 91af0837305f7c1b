"""Early messages: received while `initialize` was being handled, kept as lines until it is answered (rule 25)."""

from __future__ import annotations

from collections import deque

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.jsonrpc.messages import RequestId

# A line, with the id of a request in a tuple, since null is an id; None for a notification.
_Early = tuple[tuple[RequestId] | None, bytes]


class EarlyMessages:
    """The early messages of a connection, in order of arrival.

    Args:
        backpressure: counts them.
    """

    def __init__(self, backpressure: Backpressure) -> None:
        self._backpressure = backpressure
        self._messages: deque[_Early] = deque()

    def add_notification(self, line: bytes) -> None:
        """Add a notification."""
        self._add(None, line)

    def add_request(self, id: RequestId, line: bytes) -> None:
        """Add a request."""
        self._add((id,), line)

    def take_all(self) -> list[bytes]:
        """Remove all messages and return them."""
        messages, self._messages = self._messages, deque()
        for _, line in messages:
            self._backpressure.remove_waiting(len(line))
        return [line for _, line in messages]

    def take_ids(self) -> list[RequestId]:
        """Remove all messages and return the ids of the requests."""
        ids = [id[0] for id, _ in self._messages if id is not None]
        self.take_all()
        return ids

    def cancel(self, id: RequestId) -> int:
        """Remove the requests with an id, and return their number."""
        cancelled = [line for each, line in self._messages if each == (id,)]
        if cancelled:
            self._messages = deque(each for each in self._messages if each[0] != (id,))
            for line in cancelled:
                self._backpressure.remove_waiting(len(line))
        return len(cancelled)

    def _add(self, id: tuple[RequestId] | None, line: bytes) -> None:
        self._backpressure.add_waiting(len(line))
        self._messages.append((id, line))

    def __len__(self) -> int:
        return len(self._messages)
