"""What a connection reads from and writes to: the protocol of transports.

Bytes are pushed: who has some calls the receiver in the very turn of the event loop that read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Receiver(Protocol):
    """Where the bytes of a source go."""

    def received(self, data: bytes, /) -> None:
        """Some bytes have come."""
        ...

    def ended(self, error: OSError | None, /) -> None:
        """No more will come: the peer has closed its side, or reading failed."""
        ...


class ByteSource(Protocol):
    """Where a connection reads."""

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read. Called once; the receiver is called in later turns of the event loop."""
        ...

    def pause(self) -> None:
        """Leave what comes where it is. What was read already may still be handed on."""
        ...

    def resume(self) -> None:
        """Read on."""
        ...

    async def stop(self) -> None:
        """Read no more, for good. What is read from is left open."""
        ...


class ByteWriter(Protocol):
    """Where a connection writes."""

    @property
    def unwritten(self) -> int:
        """How many bytes it holds back."""
        ...

    def write(self, data: bytes, /) -> None:
        """Write, or keep to write later. Never waits. Raises OSError if nothing can be written anymore."""
        ...

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """What to call if writing fails later than in `write`, while nobody waits in `drain` and nothing is read."""
        ...

    async def drain(self) -> None:
        """Wait while it holds back too much. Raises OSError if nothing can be written anymore."""
        ...

    async def close(self) -> None:
        """Write what is held back, then close."""
        ...

    def abort(self) -> None:
        """Close, whatever is held back."""
        ...
