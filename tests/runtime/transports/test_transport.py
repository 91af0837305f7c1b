"""Transports that applications implement. The tests that are marked `every_link` run over one as well."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from acp_bindings.v1 import connect, serve
from acp_runtime import ConnectionClosed, Options
from acp_runtime.transports.files import CAPACITY, BufferedWriter
from acp_runtime.transports.transport import StreamTransport, TransportEnd
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import PlainAgent, PlainClient
from tests.support.runtime.queue_transport import ByteQueue, QueueTransport, queue_transports
from tests.support.runtime.received import Received

OPTIONS = Options(guards="off", eof_grace=0.05, flush_deadline=0.2)


class SlowTransport(QueueTransport):
    """A transport whose methods wait, and record whether they were cancelled, once the peer allows it.

    Attributes:
        cancelled: the methods that were cancelled.
        sending, receiving: how many calls of each are in progress, at most.
    """

    def __init__(self, incoming: ByteQueue, outgoing: ByteQueue) -> None:
        super().__init__(incoming, outgoing)
        self.cancelled: list[str] = []
        self.may_send = asyncio.Event()
        self.sent: list[bytes] = []
        self._busy: dict[str, int] = {"receive": 0, "send": 0}

    async def receive(self) -> bytes:
        return await self._alone("receive", super().receive())

    async def send(self, data: bytes, /) -> None:
        await self._alone("send", self._send(data))

    async def close(self) -> None:
        assert self._busy == {"receive": 0, "send": 0}
        await super().close()

    async def _send(self, data: bytes) -> None:
        self.sent.append(data)
        await self.may_send.wait()
        await super().send(data)

    async def _alone(self, name: str, call: Any) -> Any:
        self._busy[name] += 1
        assert self._busy[name] == 1
        try:
            return await call
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        finally:
            self._busy[name] -= 1


def slow() -> SlowTransport:
    return SlowTransport(ByteQueue(), ByteQueue())


async def test_a_sender_waits_while_the_transport_sends_and_the_buffer_is_bounded() -> None:
    transport = slow()
    async with connect(PlainClient, transport, options=Options(guards="off", write_high_water_bytes=1000)) as agent:
        senders = [asyncio.create_task(agent.ext_notification("_note", "x" * 600)) for _ in range(3)]
        await let_others_run(20)
        later = asyncio.create_task(agent.ext_notification("_later"))
        await let_others_run(20)
        assert len(transport.sent) == 1  # the rest waits here, not in the transport
        assert not later.done()
        transport.may_send.set()
        await asyncio.gather(*senders, later)
    assert b"".join(transport.sent).count(b"_note") == 3


async def test_each_call_of_send_has_whole_messages() -> None:
    transport = slow()
    transport.may_send.set()
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        await asyncio.gather(*(agent.ext_notification("_note", "é" * number) for number in range(200)))
    assert all(data.endswith(b"\n") for data in transport.sent)
    assert sum(len(data.splitlines()) for data in transport.sent) == 200


async def test_receive_is_cancelled_at_the_end_and_close_comes_last_and_once() -> None:
    transport = slow()
    transport.may_send.set()
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        await agent.ext_notification("_note")
    assert transport.cancelled == ["receive"]
    assert transport.closed == 1


async def test_send_is_cancelled_if_the_peer_does_not_read_until_the_deadline() -> None:
    transport = slow()
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        waiting = asyncio.create_task(agent.ext_notification("_note", "x" * 100_000))
        await let_others_run(5)
    assert sorted(transport.cancelled) == ["receive", "send"]
    assert transport.closed == 1
    with pytest.raises(ConnectionClosed):
        await waiting


async def test_cancelling_serve_closes_the_transport() -> None:
    transport = slow()
    serving = asyncio.create_task(serve(PlainAgent, transport, options=OPTIONS))
    await let_others_run(3)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert transport.closed == 1


@pytest.mark.parametrize("raised", [OSError("no route"), ValueError("no route"), asyncio.CancelledError("no route")])
async def test_an_exception_of_receive_is_the_reason_why_the_connection_closed(raised: BaseException) -> None:
    class Failing(QueueTransport):
        async def receive(self) -> bytes:
            raise raised

    transport = Failing(ByteQueue(), ByteQueue())
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        with pytest.raises(ConnectionClosed, match=r"Reading from the peer failed: \w+: no route"):
            await agent.ext_request("_call")
        assert "no route" in (await agent.wait_closed()).reason
    assert transport.closed == 1


@pytest.mark.parametrize("raised", [OSError("no route"), ValueError("no route"), asyncio.CancelledError("no route")])
async def test_an_exception_of_send_is_the_reason_why_the_connection_closed(raised: BaseException) -> None:
    class Failing(QueueTransport):
        async def send(self, data: bytes, /) -> None:
            raise raised

    transport = Failing(ByteQueue(), ByteQueue())
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        with pytest.raises(ConnectionClosed, match=r"Writing to the peer failed: \w+: no route"):
            await agent.ext_request("_call", "x" * 100_000)
    assert transport.closed == 1


@pytest.mark.parametrize("size", [1, 3, 100_000])
async def test_bytes_may_be_received_in_pieces_of_any_size(size: int) -> None:
    class InPieces(QueueTransport):
        rest = b""

        async def receive(self) -> bytes:
            self.rest = self.rest or await super().receive()
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece

    class Echo(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return params

    ours, theirs = queue_transports()
    ours.__class__ = theirs.__class__ = InPieces
    serving = asyncio.create_task(serve(Echo, ours, options=OPTIONS))
    async with connect(PlainClient, theirs, options=OPTIONS) as agent:
        assert await agent.ext_request("_echo", "é\ud83d\n") == "é\ud83d\n"
    await serving


def fails(_: Any) -> Any:
    raise ZeroDivisionError


async def test_the_transport_is_closed_if_the_factory_raises() -> None:
    for connecting in (lambda it: serve(fails, it), lambda it: _enter(connect(fails, it))):
        transport = slow()
        with pytest.raises(ZeroDivisionError):
            await connecting(transport)
        assert transport.closed == 1


async def _enter(block: Any) -> None:
    async with block:
        pass


async def test_an_exception_of_close_is_ignored() -> None:
    class Failing(QueueTransport):
        async def close(self) -> None:
            await super().close()
            raise OSError

    transport = Failing(ByteQueue(), ByteQueue())
    async with connect(PlainClient, transport, options=OPTIONS):
        pass
    assert transport.closed == 1


def _deaf(released: asyncio.Event, method: str) -> QueueTransport:
    """Return a transport with a method that ignores its cancellation."""

    async def ignore(*_: Any) -> Any:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                ignored.append(method)

    ignored: list[str] = []
    transport = QueueTransport(ByteQueue(), ByteQueue())
    setattr(transport, method, ignore)
    return transport


@pytest.mark.parametrize("method", ["receive", "send"])
async def test_a_method_that_ignores_its_cancellation_does_not_stop_the_end(method: str) -> None:
    released = asyncio.Event()
    transport = _deaf(released, method)
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        sending = asyncio.create_task(agent.ext_notification("_note"))
        await let_others_run(5)
    assert transport.closed == 1
    released.set()
    await sending
    await let_others_run(5)


async def test_close_is_cancelled_at_the_deadline() -> None:
    cancelled = asyncio.Event()

    class Waiting(QueueTransport):
        async def close(self) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    async with connect(PlainClient, Waiting(ByteQueue(), ByteQueue()), options=OPTIONS):
        pass
    assert cancelled.is_set()
    cancelled.clear()
    with pytest.raises(ZeroDivisionError):
        await serve(fails, Waiting(ByteQueue(), ByteQueue()), options=OPTIONS)
    assert cancelled.is_set()


async def test_a_closed_connection_sends_nothing_more() -> None:
    transport = slow()
    transport.may_send.set()
    async with connect(PlainClient, transport, options=OPTIONS) as agent:
        pass
    count = len(transport.sent)
    calls: list[Callable[[], Any]] = [lambda: agent.ext_request("_call"), lambda: agent.ext_notification("_note")]
    for call in calls:
        with pytest.raises(ConnectionClosed):
            await call()
    assert len(transport.sent) == count


@pytest.mark.parametrize("count", range(25))
def test_the_end_of_the_event_loop_closes_the_transport_at_any_moment(count: int) -> None:
    transports: list[QueueTransport] = []

    async def leave() -> None:
        incoming = ByteQueue()
        transports.append(QueueTransport(incoming, ByteQueue()))
        serving = asyncio.create_task(serve(PlainAgent, transports[0], options=OPTIONS))
        assert not serving.done()
        await let_others_run(3)
        await incoming.put(b"")
        await let_others_run(count)

    asyncio.run(leave())
    assert transports[0].closed == 1


async def test_draining_goes_on_until_no_more_than_the_capacity_is_buffered() -> None:
    class Slow(BufferedWriter):
        def _put(self, data: bytes) -> None:
            """Keep it until `wrote` is called."""

        def _close(self) -> None:
            raise AssertionError

        def wrote(self, size: int) -> None:
            self._wrote(size)

    writer = Slow(10)
    writer.write(b"x" * 30)
    draining = asyncio.create_task(writer.drain())
    for size in (5, 14):
        await let_others_run(3)
        writer.wrote(size)
    await let_others_run(3)
    assert not draining.done()
    writer.wrote(1)
    await draining


async def test_what_was_sent_is_no_longer_unwritten() -> None:
    async with TransportEnd(QueueTransport(ByteQueue(), ByteQueue()), 1) as end:
        end.write(b"x" * 10)
        assert end.unwritten == 10
        await end.drain()
        assert end.unwritten == 0


async def test_a_transport_can_watch_how_much_is_buffered_in_both_directions() -> None:
    class Watched(QueueTransport):
        def watch_buffered(self, buffered: Callable[[], int]) -> Callable[[], object]:
            counts.append(buffered)
            return lambda: much.append(buffered())

    class Receiving:
        def buffered(self) -> int:
            return 5

        def received(self, data: bytes, /) -> None:
            raise AssertionError

        def ended(self, error: OSError | None, /) -> None:
            raise AssertionError

    counts, much = list[Callable[[], int]](), list[int]()
    async with TransportEnd(Watched(ByteQueue(), ByteQueue()), 1) as end:
        end.start(Receiving())
        end.write(b"x" * CAPACITY)
        assert ([count() for count in counts], much) == ([CAPACITY + 5], [])
        end.write(b"x")
        assert much == [CAPACITY + 6]


async def test_what_was_not_sent_is_freed_when_sending_fails() -> None:
    class Line(bytes):
        def __del__(self) -> None:
            freed.set()

    class Failing(QueueTransport):
        async def send(self, data: bytes, /) -> None:
            raise OSError("no route")

    freed = asyncio.Event()
    async with TransportEnd(Failing(ByteQueue(), ByteQueue()), 1) as end:
        end.write(b"1")
        end.write(Line(b"2"))
        assert not freed.is_set()
        await freed.wait()


async def test_closing_streams_waits_until_the_peer_has_read_all() -> None:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    transport = StreamTransport(*await asyncio.open_connection(sock=ours))
    reader, writer = await asyncio.open_connection(sock=theirs)
    await transport.send(b"x" * 60_000)  # asyncio buffers what doesn't fit into the socket
    closing = asyncio.create_task(transport.close())
    async with asyncio.timeout(10):
        assert len(await reader.read()) == 60_000
    await closing
    writer.close()
    await writer.wait_closed()


async def test_a_cancelled_close_of_streams_drops_the_rest() -> None:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    transport = StreamTransport(*await asyncio.open_connection(sock=ours))
    reader, writer = await asyncio.open_connection(sock=theirs, limit=1024)  # then it reads at most 2 KB ahead
    await transport.send(b"x" * 60_000)  # asyncio buffers what doesn't fit into the socket
    closing = asyncio.create_task(transport.close())
    await let_others_run(5)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    async with asyncio.timeout(10):
        assert len(await reader.read()) < 60_000
    writer.close()
    await writer.wait_closed()


async def test_after_a_stop_at_most_one_more_piece_is_received() -> None:
    received, incoming = Received(), ByteQueue()
    async with TransportEnd(QueueTransport(incoming, ByteQueue()), 1) as end:
        end.start(received)
        await let_others_run(3)
        await end.stop()
        for data in (b"a", b"b", b"c"):
            await incoming.put(data)
            await let_others_run(3)
    assert received.data == [b"a"]


async def test_a_receiver_that_counts_nothing_is_not_watched() -> None:
    class Watched(QueueTransport):
        def watch_buffered(self, buffered: Callable[[], int]) -> Callable[[], object]:
            raise AssertionError

    async with TransportEnd(Watched(ByteQueue(), ByteQueue()), 1) as end:
        end.start(Received())


async def test_a_block_that_is_left_with_the_event_loop_waits_for_nothing() -> None:
    async def hold() -> None:
        async with end:
            await asyncio.Event().wait()

    transport = slow()
    end = TransportEnd(transport, 1)
    holding = hold()
    holding.send(None)
    holding.close()  # raises RuntimeError if something is awaited
    assert transport.closed == 0
    end.abort()
    await let_others_run(3)


async def test_aborting_cancels_the_current_send_and_reports_a_failure() -> None:
    transport, failures = slow(), list[OSError]()
    async with TransportEnd(transport, 1) as end:
        end.on_failure(failures.append)
        end.write(b"a")
        await let_others_run(2)
        end.abort()
        await let_others_run(3)
        assert (transport.sent, transport.cancelled) == ([b"a"], ["send"])
        assert [type(failure) for failure in failures] == [BrokenPipeError]
