"""The answers to the requests of a batch, which are sent together as one array (JSON-RPC 2.0 section 6).

An array that would be larger than a message may be is sent as several, since a peer would close the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from acp_runtime.connection.writer import Writer
from acp_runtime.jsonrpc.framing import MODEL_BYTES


class BatchAnswers:
    """Collects the answers to the entries of one batch, and sends them when none is missing.

    Args:
        writer: sends them. Its limits count those that wait, as they count answers that the peer doesn't read.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._lines: list[bytes] = []
        self._when_sent: list[Callable[[], object]] = []
        # The missing answers, and 1 until all entries were received.
        self._missing = 1

    def expect(self) -> None:
        """Expect one more answer."""
        self._missing += 1

    def complete(self) -> None:
        """Note that all entries were received."""
        self._missing -= 1
        self._send_if_complete()

    def answer(self, line: bytes, *, flush: bool = False) -> None:
        """Add the answer to an entry."""
        self._missing -= 1
        self._lines.append(line)
        self._writer.limits.add(len(line) + MODEL_BYTES)
        self._send_if_complete(flush=flush)

    def when_sent(self, call: Callable[[], object]) -> None:
        """Call a function as soon as the answers were sent."""
        if self._missing:
            self._when_sent.append(call)
        else:
            call()

    def _send_if_complete(self, *, flush: bool = False) -> None:
        if self._missing or not self._lines:
            return
        for line in self._lines:
            self._writer.limits.remove(len(line) + MODEL_BYTES)
        for array in self._arrays():
            self._writer.answer(b"[%b]\n" % b",".join(array), flush=flush)
        for call in self._when_sent:
            call()

    def _arrays(self) -> Iterator[list[bytes]]:
        """Yield the answers of each array."""
        array, size = list[bytes](), 0
        for line in self._lines:
            # With a comma in place of its newline. The first has none, and the array has two brackets.
            if array and size + len(line) + 1 > self._writer.options.max_message_bytes:
                yield array
                array, size = [], 0
            array.append(line.rstrip(b"\n"))
            size += len(line)
        yield array


Answers: TypeAlias = Writer | BatchAnswers
"""What sends the answer to a message: it goes out alone, or with those of its batch."""
