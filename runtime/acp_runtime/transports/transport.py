"""The `Transport` that applications implement, one for asyncio's streams, and the ends that a connection uses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, runtime_checkable

from acp_runtime.connection.interfaces import Receiver
from acp_runtime.shielded_waits import can_await
from acp_runtime.transports.files import CAPACITY, BufferedWriter


@runtime_checkable
class Transport(Protocol):
    r"""A transport that an application implements, such as an SSH channel, a sandbox or a WebSocket.

    The bytes are JSON messages, each with a newline at the end. A connection

    * calls `receive` repeatedly, but not while too many messages are queued: then the peer has to wait. It returns
      pieces of any size, and `b""` when the peer has closed its side. Sending may continue after that;
    * calls `send` with one or more whole messages, and not again before it has returned. `send` should wait while the
      peer doesn't read: meanwhile at most `Options.write_high_water_bytes` are buffered, then senders wait, too;
    * may call `receive` and `send` at the same time, in tasks of the event loop in which it was connected;
    * cancels `receive` when it ends, and `send` if the rest can't be written within `Options.flush_deadline`;
    * calls `close` exactly once, when `receive` and `send` have ended. `close` closes both directions, so that the peer
      reads the end. It is cancelled after `Options.flush_deadline`.

    If `receive` or `send` raises an exception, the connection ends. Pending calls raise `ConnectionClosed`, with the
    exception in its `reason`. Exceptions of `close` are ignored. If messages are frames, as in a WebSocket, `receive`
    returns `frame + b"\n"`, and `send` sends a frame for each line in `data.splitlines()`.

    A transport may also have a method `watch_buffered`. It is called once, before `receive`, with a function that
    returns how many bytes are buffered: received messages that are not yet handled, and unsent ones. It returns a
    function to call when many bytes are unsent.
    """

    async def receive(self) -> bytes:
        """Wait for bytes from the peer, and return them; `b""` when the peer has closed its side."""
        ...

    async def send(self, data: bytes, /) -> None:
        """Send all bytes to the peer."""

    async def close(self) -> None:
        """Close the transport and everything that it holds open."""


class StreamTransport:
    """Makes an `asyncio.StreamReader` and an `asyncio.StreamWriter` a `Transport`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes:
        """Return what has arrived, or wait for it."""
        return await self._reader.read(256 * 1024)

    async def send(self, data: bytes, /) -> None:
        """Write bytes, and wait while asyncio has buffered too much."""
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> None:
        """Write the buffered bytes, then close. If this is cancelled, they are dropped."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except (NotImplementedError, AttributeError):
            # asyncio's protocol for a write-only pipe has no `wait_closed`, but it can drain.
            self._writer.transport.set_write_buffer_limits(0)
            await self._writer.drain()
        finally:
            # asyncio's pipes must not be aborted once they are closed.
            if self._writer.transport.get_write_buffer_size():
                self._writer.transport.abort()


class TransportEnd(BufferedWriter):
    """A `ByteSource` and a `ByteWriter` on a `Transport`, which is closed at the end of the `async with` block.

    Args:
        transport: the transport.
        deadline: how many seconds closing it may take, and how many its methods may take to end when cancelled.
    """

    def __init__(self, transport: Transport, deadline: float) -> None:
        super().__init__(0)
        self._transport = transport
        self._deadline = deadline
        self._resumed = asyncio.Event()
        self.pause: Callable[[], None] = self._resumed.clear
        self.resume: Callable[[], None] = self._resumed.set
        self.resume()
        self._unsent = asyncio.Queue[bytes]()
        self._tasks = [asyncio.create_task(self._send(), name="acp-send")]
        self._much_is_unsent: Callable[[], object] = lambda: None
        self._is_closed = False

    async def __aenter__(self) -> TransportEnd:
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if can_await(error):
            await self._end_all()

    def start(self, receiver: Receiver, /) -> None:
        """Start receiving in a task."""
        watch, buffered = getattr(self._transport, "watch_buffered", None), getattr(receiver, "buffered", None)
        if watch is not None and buffered is not None:
            self._much_is_unsent = watch(lambda: buffered() + self.unwritten)
        self._tasks.append(asyncio.create_task(self._receive(receiver), name="acp-receive"))

    async def stop(self) -> None:
        """Receive nothing more. What `receive` may still return is not needed."""
        self.pause()

    async def close(self) -> None:
        """Wait until everything is sent, then close."""
        await self._until(0)
        await self._end_all()

    def _put(self, data: bytes) -> None:
        self._unsent.put_nowait(data)
        if self.unwritten > CAPACITY:
            self._much_is_unsent()

    def _close(self) -> None:
        """Drop what is not sent. The transport is closed at the end of the block."""
        self._tasks[0].cancel()

    async def _receive(self, receiver: Receiver) -> None:
        try:
            while await self._resumed.wait() and (data := await self._transport.receive()):
                receiver.received(data)
            receiver.ended(None)
        except (Exception, asyncio.CancelledError) as raised:
            receiver.ended(OSError(f"{type(raised).__name__}: {raised}"))

    async def _send(self) -> None:
        """Send until that fails or is cancelled."""
        try:
            while self.error is None:
                data = await self._unsent.get()
                await self._transport.send(data)
                self._wrote(len(data))
        except (Exception, asyncio.CancelledError) as raised:
            self._unsent = asyncio.Queue[bytes]()
            self._failed(self.error or OSError(f"{type(raised).__name__}: {raised}"))

    async def _end_all(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            for task in self._tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):  # it hurries the end
                await asyncio.wait(self._tasks, timeout=self._deadline)
            with suppress(Exception):
                async with asyncio.timeout(self._deadline):
                    await self._transport.close()
