"""Rule 18: a pause has an exit: the end of the peer, or that no handler ends for a long time."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tracemalloc
from collections.abc import Awaitable, Callable, Coroutine
from io import FileIO
from typing import Any

import pytest

from acp_bindings.v1 import PromptResponse, RemoteAgent, SessionNotification, spawn_agent
from acp_runtime import ConnectionClosed, Options
from acp_runtime.connection.interfaces import ByteSource
from acp_runtime.jsonrpc.framing import MODEL_BYTES
from acp_runtime.transports.descriptors import FdReader
from acp_runtime.transports.memory import MemoryPipe
from tests.runtime.connection.random_peer import SkippingLoop
from tests.support.event_loop import let_others_run
from tests.support.programs import run_program
from tests.support.runtime.peer import (
    LINKS,
    Link,
    Peer,
    PlainAgent,
    PlainClient,
    calling,
    line,
    prompt,
    serving,
    text_of,
    update,
)
from tests.support.runtime.received import Received

pytestmark = pytest.mark.every_link
MARKS: dict[str, Any] = {"high_water_messages": 5, "handler_deadline": 0.02, "eof_grace": 0.05}


class HangingClient(PlainClient):
    async def session_update(self, notification: SessionNotification, /) -> None:
        await asyncio.Event().wait()


class HangingAgent(PlainAgent):
    async def ext_notification(self, method: str, params: object, /) -> None:
        await asyncio.Event().wait()


async def test_rule_18_a_client_notices_that_its_agent_has_gone_while_reading_is_paused(link: Link) -> None:
    async with calling(link, HangingClient, **MARKS) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        await peer.receive()
        await peer.send(*(update("s", "x") for _ in range(100)))
        await peer.end()
        with pytest.raises(ConnectionClosed, match="The peer closed the connection"):
            await call


async def test_rule_18_an_agent_notices_that_its_client_has_gone_while_reading_is_paused(link: Link) -> None:
    async with serving(link, HangingAgent, **MARKS) as peer:
        await peer.send(*({"method": "_note", "params": {}} for _ in range(100)))
        await peer.end()
        assert await peer.rest() == []


FLOODING_AGENT = """
import sys
for line in sys.stdin:
    print(RESULT, flush=True)
    if "session/prompt" in line:
        print(UPDATE * 5000, flush=True)
        sys.exit(3)
"""


async def test_rule_18_a_prompt_fails_when_a_spawned_agent_exits_while_reading_is_paused() -> None:
    result = line({"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}).decode().strip()
    program = FLOODING_AGENT.replace("RESULT", repr(result)).replace("UPDATE", repr(line(update("s", "x")).decode()))
    options = Options(handler_deadline=0.02)
    async with spawn_agent(HangingClient, sys.executable, "-c", program, options=options) as agent:
        await agent.initialize(protocol_version=1)
        with pytest.raises(ConnectionClosed) as closed:
            await agent.session_prompt(session_id="s", prompt=[])
    assert closed.value.exit_code == 3


SERVING = """
import asyncio
from acp_runtime import Options
from acp_bindings.v1 import serve_stdio
from tests.runtime.connection.test_pauses import HangingAgent

asyncio.run(serve_stdio(HangingAgent, options=Options(handler_deadline=0.02)))
"""


def test_rule_18_an_agent_whose_reading_is_paused_exits_with_its_client() -> None:
    initialize = line({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
    notes = line({"method": "_note", "params": {}}) * 5000
    code, stdout, _ = run_program("-c", SERVING, input=initialize + notes)
    assert (code, stdout.count(b"\n")) == (0, 1)


async def test_rule_18_reading_resumes_when_no_handler_ends(link: Link) -> None:
    queue = asyncio.Queue[str](1)
    worked: list[str] = []

    class Queueing(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await queue.put("update")

    async def work(agent: RemoteAgent) -> None:
        while True:
            worked.append(await queue.get())
            await agent.ext_request("_save", None)

    async with calling(link, Queueing, **MARKS) as (agent, peer):
        worker = asyncio.create_task(work(agent))
        await peer.send(update("s", "first"))
        saving = await peer.receive()
        await peer.send(*(update("s", str(number)) for number in range(100)))
        await peer.send({"id": saving["id"], "result": {}})
        while len(worked) < 100:
            await peer.answer(result={})
        worker.cancel()
        await asyncio.wait([worker])


async def test_rule_18_a_pause_after_a_handlers_answer_has_an_exit(link: Link) -> None:
    saved = asyncio.Event()

    class Waiting(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if text_of(notification) == "ask":
                await self.agent.ext_request("_ask", None)
            await saved.wait()

    async with calling(link, Waiting, **MARKS) as (agent, peer):
        saving = asyncio.create_task(agent.ext_request("_save", None))
        save = await peer.receive()
        await peer.send(update("s", "ask"))
        ask = await peer.receive()
        # More than the reader passes on at once, so that it looks at the marks again when the handler has its answer.
        updates = b"".join(line(update("s", "x")) for _ in range(40))
        await peer.send(line({"id": ask["id"], "result": {}}) + updates + line({"id": save["id"], "result": {}}))
        async with asyncio.timeout(30):
            await saving
        saved.set()


async def test_rule_18_a_flood_closes_the_connection_although_no_handler_ends(link: Link) -> None:
    marks = {**MARKS, "high_water_bytes": 10_000, "flood_factor": 2}
    async with calling(link, HangingClient, **marks) as (agent, peer):
        peer.writer.write(b"".join(line(update("s", "x" * 1000)) for _ in range(1000)))
        closed = await agent.wait_closed()
        peer.writer.abort()
    assert "more than can be handled" in closed.reason


async def call(agent: RemoteAgent, peer: Peer) -> None:
    answered = asyncio.ensure_future(agent.ext_request("_ask", None))
    await peer.answer(result={})
    await answered


async def send_much(agent: RemoteAgent, peer: Peer) -> None:
    sent = asyncio.ensure_future(agent.ext_notification("_much", "x" * 200_000))
    await peer.receive()
    await sent


@pytest.mark.parametrize("wait_for_peer", [call, send_much])
async def test_rule_18_reading_pauses_again_when_a_handler_has_waited_for_the_peer(
    wait_for_peer: Callable[[RemoteAgent, Peer], Awaitable[None]],
) -> None:
    received, has_waited, may_end, done = list[bytes](), asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if text_of(notification) == "ask":
                await wait_for_peer(self.agent, peer)
                has_waited.set()
            await may_end.wait()
            if text_of(notification) == "last":
                done.set()

    def count(direction: str, line: bytes, time: float) -> None:
        if b"session/update" in line:
            received.append(line)

    async with calling(LINKS["memory"], Asking, high_water_messages=5, on_frame=count) as (_, peer):
        await peer.send(update("s", "ask"))
        await has_waited.wait()
        for text in [*map(str, range(100)), "last"]:
            await peer.send(update("s", text))
        await let_others_run(20)
        assert len(received) < 60
        may_end.set()
        await done.wait()
        assert len(received) == 102


async def test_rule_18_the_mark_is_as_before_when_a_queue_that_stalled_was_handled() -> None:
    received, handled = 0, 0
    all_received, may_end, all_handled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Stalling(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            nonlocal handled
            await may_end.wait()
            handled += 1
            if handled == 101:
                all_handled.set()

    def count(direction: str, line: bytes, time: float) -> None:
        nonlocal received
        received += b"session/update" in line
        if received == 100:
            all_received.set()

    marks: dict[str, Any] = {"high_water_messages": 4, "handler_deadline": 0.05}
    async with calling(LINKS["memory"], Stalling, **marks, on_frame=count) as (_, peer):
        updates = b"".join(line(update("s", "x")) for _ in range(100))
        await peer.send(updates)
        await all_received.wait()  # the mark was doubled again and again
        may_end.set()
        await peer.until_quiet()
        await peer.send(update("s", "x"))  # the queue is short when this comes
        await all_handled.wait()
        may_end.clear()
        await peer.send(updates)
        await let_others_run(20)
        assert received < 201
        may_end.set()


class UpdateCount:
    """Counts the updates that are passed on."""

    count = 0

    def __call__(self, direction: str, line: bytes, time: float) -> None:
        self.count += b"session/update" in line


def run_skipping(test: Coroutine[Any, Any, None]) -> None:
    """Run a test in an event loop whose clock skips idle time."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(test)


async def send_one_at_a_time(peer: Peer, number: int) -> None:
    for _ in range(number):
        await peer.send(update("s", "x"))
        await let_others_run(3)


def test_rule_18_the_mark_is_not_doubled_while_handlers_end() -> None:
    handled, received, done = 0, UpdateCount(), asyncio.Event()
    unhandled: list[int] = []

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            nonlocal handled
            unhandled.append(received.count - handled)
            await asyncio.sleep(0.6)
            handled += 1
            if handled == 200:
                done.set()

    async def handle_200() -> None:
        marks: dict[str, Any] = {"high_water_messages": 4, "handler_deadline": 1.0}
        async with calling(LINKS["memory"], Slow, **marks, on_frame=received) as (_, peer):
            await peer.send(b"".join(line(update("s", "x")) for _ in range(200)))
            await done.wait()

    run_skipping(handle_200())
    # A batch of lines is passed on whole.
    assert max(unhandled) < 4 + 32


def test_rule_18_the_mark_is_not_doubled_while_reading_goes_on() -> None:
    received, may_ask, may_end = UpdateCount(), asyncio.Event(), asyncio.Event()

    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await may_ask.wait()
            await self.agent.ext_request("_ask")
            await may_end.wait()

    async def wait_for_the_peer() -> None:
        marks: dict[str, Any] = {"high_water_messages": 4, "handler_deadline": 1.0, "eof_grace": 0}
        async with calling(LINKS["memory"], Asking, **marks, on_frame=received) as (_, peer):
            await send_one_at_a_time(peer, 5)  # one is being handled, and reading pauses
            may_ask.set()
            ask = await peer.receive()  # reading goes on, as its answer has to come
            await asyncio.sleep(1.5)
            await peer.send({"id": ask["id"], "result": None})
            await let_others_run(5)
            await send_one_at_a_time(peer, 10)
            assert received.count == 6  # reading pauses after the next one

    run_skipping(wait_for_the_peer())


def test_rule_18_a_pause_lasts_for_the_whole_deadline_although_there_was_another_one() -> None:
    received, gate = UpdateCount(), asyncio.Event()

    class Gated(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await gate.wait()

    async def pause_twice() -> None:
        marks: dict[str, Any] = {"high_water_messages": 4, "handler_deadline": 1.0, "eof_grace": 0}
        async with calling(LINKS["memory"], Gated, **marks, on_frame=received) as (_, peer):
            await send_one_at_a_time(peer, 10)
            assert received.count == 5  # one is being handled, and reading pauses
            gate.set()
            await asyncio.sleep(1.5)
            assert received.count == 10
            gate.clear()
            await send_one_at_a_time(peer, 10)
            await asyncio.sleep(0.7)
            assert received.count == 15
            await asyncio.sleep(0.7)
            assert received.count > 15

    run_skipping(pause_twice())


SIZE = len(line(update("s", "x"))) - 1 + MODEL_BYTES


@pytest.mark.parametrize("marks", [{"high_water_messages": 5}, {"high_water_bytes": 5 * SIZE}], ids=str)
async def test_rule_18_reading_pauses_when_as_much_as_the_mark_is_queued(marks: dict[str, Any]) -> None:
    received, may_end = list[bytes](), asyncio.Event()

    class Waiting(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await may_end.wait()

    def count(direction: str, line: bytes, time: float) -> None:
        if b"session/update" in line:
            received.append(line)

    async with calling(LINKS["memory"], Waiting, **marks, on_frame=count) as (_, peer):
        for _ in range(20):
            await peer.send(update("s", "x"))
            await let_others_run(3)
        assert len(received) == 6  # one is being handled
        may_end.set()


def _pipe() -> tuple[ByteSource, FileIO]:
    reading, writing = os.pipe()
    return FdReader(FileIO(reading, "rb")), FileIO(writing, "wb")


def _sockets() -> tuple[ByteSource, FileIO]:
    ours, theirs = socket.socketpair()
    return FdReader(FileIO(ours.detach(), "rb")), FileIO(theirs.detach(), "wb")


@pytest.mark.parametrize("make", [_pipe, _sockets])
async def test_a_paused_reader_of_a_descriptor_notices_that_its_peer_has_closed(
    make: Callable[[], tuple[ByteSource, FileIO]],
) -> None:
    source, target = make()
    receiver = Received()
    source.start(receiver)
    source.pause()
    target.write(b"last")
    target.close()
    assert await receiver.end() is None
    assert b"".join(receiver.data) == b"last"


async def test_a_paused_pipe_in_memory_delivers_the_rest_when_its_writer_has_closed() -> None:
    pipe, receiver = MemoryPipe(1000), Received()
    pipe.start(receiver)
    pipe.pause()
    pipe.write(b"last")
    await pipe.close()
    assert await receiver.end() is None
    assert b"".join(receiver.data) == b"last"


async def test_rule_18_sessions_that_the_peer_names_are_not_kept_without_a_bound() -> None:
    class Refusing(PlainAgent):
        async def session_prompt(self, request: object, /) -> PromptResponse:
            raise ValueError("unknown session")

    async with serving(LINKS["memory"], Refusing) as peer:
        await peer.call("session/prompt", prompt(0)["params"])
        tracemalloc.start()
        try:
            for number in range(60):
                await peer.call("session/prompt", prompt(0, f"{number}{'x' * 100_000}")["params"])
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kept < 1_000_000
