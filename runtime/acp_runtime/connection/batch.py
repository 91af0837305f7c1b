"""The answers to the requests of a batch, which are sent together as one array (JSON-RPC 2.0 section 6)."""

from __future__ import annotations

from collections.abc import Callable
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
        self._writer.answer(b"[%b]\n" % b",".join(line.rstrip(b"\n") for line in self._lines), flush=flush)
        for call in self._when_sent:
            call()


Answers: TypeAlias = Writer | BatchAnswers
"""What sends the answer to a message: it goes out alone, or with those of its batch."""
