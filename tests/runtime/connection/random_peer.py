"""A peer that sends its bytes at random times, and reports which responses they required."""

from __future__ import annotations

import asyncio
import json
import selectors
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from acp_runtime.connection import Connection
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import Peer, line

# Lines that are answered with an error without an id.
GARBAGE = (b"Hello, I am a banner\n", b"[1]\n", b'{"jsonrpc":"2.0"}\n', b'{"id":7,"method":"x"}\n', b'{"a":NaN}\n')
# Lines that are not answered.
UNANSWERED = (
    b"\n",
    b" \t\r\n",
    b'{"jsonrpc":"2.0","id":987654,"result":{}}\n',
    b'{"jsonrpc":"2.0","method":"unknown"}\n',
)


class RandomPeer:
    """The other end of a connection, which sends its bytes in random pieces and may stop within a line.

    Args:
        chance: the random numbers.
        make: makes the connection from a source and a writer.

    Attributes:
        received: the messages that the connection sent, in order.
        failures: calls of the event loop's exception handler.
    """

    def __init__(self, chance: Random, make: Callable[[MemoryPipe, MemoryPipe], Connection]) -> None:
        self._chance = chance
        there, back = MemoryPipe(64 * 1024), MemoryPipe(64 * 1024)
        self.connection = make(there, back)
        self.peer = Peer(back, there)
        self.received: list[Any] = []
        self.failures: list[Any] = []
        self._queued = b""
        self._written = b""
        self._has_queued = asyncio.Event()
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.failures.append(context))

    def send(self, *messages: Any) -> None:
        """Queue messages to be sent in this order."""
        for message in messages:
            self._queued += message if isinstance(message, bytes) else line(message)
        self._has_queued.set()

    async def pump(self, ends_after: int | None) -> None:
        """Send the queued messages in pieces. Send EOF after `ends_after` bytes, unless it is None."""
        while ends_after is None or len(self._written) < ends_after:
            while not self._queued:
                self._has_queued.clear()
                await self._has_queued.wait()
            size = self._chance.choice([1, 20, 200, 2000, 20_000])
            if ends_after is not None:
                size = min(size, ends_after - len(self._written))
            piece, self._queued = self._queued[:size], self._queued[size:]
            self._written += piece
            self.peer.writer.write(piece)
            await let_others_run(self._chance.choice([0, 0, 1, 3]))
        await self.peer.end()

    async def receive(self, take: Callable[[Any], None]) -> None:
        """Pass on the messages of the connection until it ends."""
        try:
            while True:
                message = await self.peer.receive()
                self.received.append(message)
                take(message)
        except EOFError:
            return

    @property
    def is_idle(self) -> bool:
        """Whether all queued messages were sent."""
        return not self._queued

    def sent(self) -> Iterator[Any]:
        """Yield the messages that were sent completely, and None for each line that is not a message."""
        for written in self._written.split(b"\n"):
            if not written.strip():
                continue
            try:
                message = json.loads(written, parse_constant=_refuse)
            except ValueError:
                yield None
                continue
            is_message = isinstance(message, dict) and message.keys() & {"method", "result", "error"}
            yield message if is_message and "jsonrpc" in message else None

    def owed(self) -> Counter[Any]:
        """Return the number of responses that are owed for each id."""
        owed: Counter[Any] = Counter()
        for message in self.sent():
            if message is None:
                owed[None] += 1
            elif "id" in message and "method" in message:
                owed[message["id"]] += 1
        return owed

    def answered(self) -> Counter[Any]:
        """Return the number of responses that were received for each id."""
        for message in self.received:
            assert message.get("method") or ("result" in message) != ("error" in message), message
        return Counter(message["id"] for message in self.received if "method" not in message)


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock skips idle time, so that deadlines take no time and runs are reproducible."""

    def __init__(self) -> None:
        super().__init__(_Skipping(self._skip))
        self._skipped = 0.0

    def time(self) -> float:
        return self._skipped

    def _skip(self, seconds: float) -> None:
        self._skipped += seconds


class _Skipping(selectors.SelectSelector):
    def __init__(self, skip: Callable[[float], None]) -> None:
        super().__init__()
        self._skip = skip

    def select(self, timeout: float | None = None) -> Any:
        if timeout:
            self._skip(timeout)
        return super().select(None if timeout is None else 0)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
