"""Messages that came while `initialize` was being answered, as the lines they came in, until it is (rule 25)."""

from __future__ import annotations

from collections import deque

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.jsonrpc.messages import RequestId

# A notification has no id, and the id of a request may be null.
_Early = tuple[tuple[RequestId] | None, bytes]


class EarlyMessages:
    """Those of a connection, in the order they came.

    Args:
        backpressure: is told of what waits.
    """

    def __init__(self, backpressure: Backpressure) -> None:
        self._backpressure = backpressure
        self._messages: deque[_Early] = deque()

    def put_notification(self, line: bytes) -> None:
        """A notification has to wait."""
        self._put(None, line)

    def put_request(self, id: RequestId, line: bytes) -> None:
        """A request has to wait."""
        self._put((id,), line)

    def take_all(self) -> list[bytes]:
        """They wait no longer."""
        messages, self._messages = self._messages, deque()
        for _, line in messages:
            self._backpressure.remove_waiting(len(line))
        return [line for _, line in messages]

    def take_ids(self) -> list[RequestId]:
        """They wait no longer, and won't be handled: the ids of the requests among them."""
        ids = [id[0] for id, _ in self._messages if id is not None]
        self.take_all()
        return ids

    def cancel(self, id: RequestId) -> int:
        """Requests with an id wait no longer. How many there were."""
        cancelled = [line for each, line in self._messages if each == (id,)]
        if cancelled:
            self._messages = deque(each for each in self._messages if each[0] != (id,))
            for line in cancelled:
                self._backpressure.remove_waiting(len(line))
        return len(cancelled)

    def _put(self, id: tuple[RequestId] | None, line: bytes) -> None:
        self._backpressure.add_waiting(len(line))
        self._messages.append((id, line))

    def __len__(self) -> int:
        return len(self._messages)
