"""The interfaces that a connection reads from and writes to, which transports implement.

Bytes are pushed: a source calls its receiver in the same iteration of the event loop that read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from acp_runtime.errors import ConnectionClosed
from acp_runtime.stubs.roles import ProcessInfo


class Receiver(Protocol):
    """Receives the bytes of a source."""

    def received(self, data: bytes, /) -> None:
        """Take some bytes."""

    def ended(self, error: OSError | None, /) -> None:
        """Note that no more bytes come: the peer has closed its side, or reading failed."""


class ByteSource(Protocol):
    """The interface that a connection reads from."""

    def start(self, receiver: Receiver, /) -> None:
        """Start reading. Called once. The receiver is called in later iterations of the event loop."""

    def pause(self) -> None:
        """Stop reading for now. Bytes that were read already may still be passed on.

        If the peer closes its side meanwhile and the source can notice, it passes on what is left, and the end.
        """

    def resume(self) -> None:
        """Continue reading."""

    async def stop(self) -> None:
        """Stop reading permanently. The underlying stream stays open."""


class ByteWriter(Protocol):
    """The interface that a connection writes to.

    Attributes:
        unwritten: the number of buffered bytes.
    """

    unwritten: int

    def write(self, data: bytes, /) -> None:
        """Write or buffer bytes, without waiting. Raises OSError if writing has failed."""

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Set the function to call if writing fails outside of `write` and `drain`, and reading wouldn't reveal it."""

    async def drain(self) -> None:
        """Wait while too much is buffered. Raises OSError if writing has failed."""

    async def close(self) -> None:
        """Write the buffered bytes, then close."""

    def abort(self) -> None:
        """Close at once and drop the buffered bytes."""


class PeerProcess(ProcessInfo, Protocol):
    """A subprocess at the other end of a connection."""

    async def why_closed(self, reason: ConnectionClosed, /) -> ConnectionClosed:
        """Add what is known of its end to the reason why the peer has closed its side."""
        ...
