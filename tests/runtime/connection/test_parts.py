"""The parts of a connection work alone, with the parts below them that they use."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from logging import getLogger
from typing import Any

import pytest

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime import ConnectionClosed, GuardError, Options
from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.in_flight import Handle, InFlightNotification, Tasks, begin_wait_for_peer, current
from acp_runtime.connection.lifecycle import Lifecycle
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.request import InFlightRequest, Requests
from acp_runtime.connection.session import Outcome, Sessions
from acp_runtime.connection.state import ProtocolState
from acp_runtime.connection.writer import Writer
from acp_runtime.logs import ThrottledLogger
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import PlainAgent

OPTIONS = Options()


def nothing(*_: Any) -> None:
    """What the base class does for a notification."""


async def test_a_session_queue_handles_its_notifications_in_order() -> None:
    handled: list[int] = []
    limits = Limits(OPTIONS)
    sessions = Sessions(Tasks(), limits, nothing, 1000)

    async def handle(number: int) -> None:
        await asyncio.sleep(0)
        handled.append(number)

    for number in range(3):
        sessions.put("s", InFlightNotification("_note", handle, number, 10, limits, nothing))
    await asyncio.wait(sessions.running)
    assert (handled, limits.messages, sessions.queues) == ([0, 1, 2], 0, {})


async def test_a_session_queue_whose_last_handler_was_cancelled_is_removed() -> None:
    limits = Limits(OPTIONS)
    sessions = Sessions(Tasks(), limits, nothing, 1000)

    async def cancel(_: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    sessions.put("s", InFlightNotification("_note", cancel, None, 10, limits, nothing))
    await asyncio.wait(sessions.running)
    assert (limits.messages, sessions.queues) == (0, {})


async def test_held_lines_are_sent_when_their_session_has_been_created() -> None:
    limits, sent = Limits(OPTIONS), list[bytes]()
    sessions = Sessions(Tasks(), limits, sent.append, 10)
    creation = InFlightNotification("session/new", nothing, None, 0, limits, nothing)  # type: ignore[arg-type]
    sessions.creating_requests.add(creation)
    sessions.send("new", b"first\n")
    with pytest.raises(GuardError, match="max_held_bytes"):
        sessions.send("new", b"too much\n")
    sessions.send(None, b"other\n")
    sessions.end_request(creation, "new")
    assert sent == [b"other\n", b"first\n"]


async def test_a_call_behind_discarded_notifications_fails_with_exit_code_and_stderr() -> None:
    limits, failed = Limits(OPTIONS), list[BaseException | None]()
    sessions = Sessions(Tasks(), limits, nothing, 1000)
    sessions.put("s", InFlightNotification("_note", nothing, None, 10, limits, nothing))  # type: ignore[arg-type]
    sessions.queues["s"].deliver(Outcome(lambda _, error: failed.append(error), None, None))
    sessions.discard_all(ConnectionClosed("The agent exited.", 7, "out of memory"))
    (error,) = failed
    assert isinstance(error, ConnectionClosed)
    assert (error.exit_code, error.stderr) == (7, "out of memory")
    assert limits.messages == 0
    await asyncio.wait(sessions.running)


def _started_request(handle: Handle) -> tuple[Requests, MemoryPipe]:
    """Start a request with a handler, and return what handles it and the pipe for its answer."""
    pipe, limits, tasks = MemoryPipe(1000), Limits(OPTIONS), Tasks()
    writer = Writer(pipe, OPTIONS, Lifecycle(), limits, tasks)
    state = ProtocolState(AGENT_SIDE, OPTIONS)
    state.handler = AGENT_SIDE.make_handler(PlainAgent, AGENT_SIDE.remote(None))  # type: ignore[arg-type]
    requests = Requests(
        state=state,
        disclose=False,
        tasks=tasks,
        sessions=Sessions(tasks, limits, writer.send, 1000),
    )

    request = InFlightRequest(
        wire="_double",
        handle=handle,
        argument=21,
        size=10,
        limits=limits,
        default=nothing,
        id="id",
        method=None,
        session=None,
        on_end=None,
        answers=writer,
    )
    requests.start(request)
    return requests, pipe


async def test_responses_have_the_results_that_handlers_return() -> None:
    async def double(number: int) -> int:
        return 2 * number

    requests, pipe = _started_request(double)
    await asyncio.wait(requests.running)
    assert pipe.unwritten == len(b'{"jsonrpc":"2.0","id":"id","result":42}\n')
    assert not requests.by_id


async def test_a_request_whose_task_is_cancelled_before_it_begins_is_answered() -> None:
    async def fail(number: int) -> int:
        raise AssertionError

    requests, pipe = _started_request(fail)
    (task,) = requests.running
    task.cancel()
    await let_others_run(10)
    error = b'{"code":-32800,"message":"Request cancelled"}'
    assert pipe.unwritten == len(b'{"jsonrpc":"2.0","id":"id","error":%b}\n' % error)
    assert not requests.by_id


def _writer(pipe: MemoryPipe, **options: Any) -> Writer:
    return Writer(pipe, Options(**options), Lifecycle(), Limits(OPTIONS), Tasks())


async def test_closing_a_writer_writes_the_collected_lines() -> None:
    pipe = MemoryPipe()
    writer = _writer(pipe)
    writer.send(b"1\n")
    writer.send(b"2\n")
    await writer.close(1)
    assert pipe.unwritten == len(b"1\n2\n")


async def test_after_a_failed_write_nothing_more_is_written() -> None:
    class Full(MemoryPipe):
        def write(self, data: bytes, /) -> None:
            written.append(data)
            raise OSError("No space left on device")

    written: list[bytes] = []
    writer = _writer(Full())
    writer.send(b"1\n")
    writer.send(b"2\n")
    writer.write_all()
    assert written == [b"1\n"]


async def test_other_tasks_run_while_a_sender_drains_a_writer_that_has_room() -> None:
    writer, others = _writer(MemoryPipe(), write_high_water_bytes=0), list[str]()
    writer.send(b"1\n")
    asyncio.get_running_loop().call_soon(others.append, "ran")
    await writer.drain()
    assert others == ["ran"]


def test_recent_ids_are_bounded_in_number() -> None:
    ids = RecentIds()
    for number in range(5000):
        ids.add(str(number))
        ids.add("used again and again")
    assert "4999" in ids
    assert "used again and again" in ids
    assert "0" not in ids


async def test_an_error_of_a_task_is_reported_to_the_event_loop() -> None:
    reported = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.set_result(context["exception"]))

    async def fail() -> None:
        raise LookupError("unexpected")

    Tasks().create(fail())
    assert repr(await reported) == "LookupError('unexpected')"


def _message(limits: Limits) -> InFlightNotification:
    """Return a message whose handler has begun."""
    limits.add(10)
    return InFlightNotification("_note", nothing, None, 10, limits, nothing)  # type: ignore[arg-type]


def test_a_handler_that_waits_in_two_tasks_blocks_its_connection_until_both_go_on() -> None:
    limits = Limits(OPTIONS)
    message = _message(limits)
    message.begin_wait()
    message.begin_wait()
    message.end_wait()
    assert limits.blocked == 1
    message.end_wait()
    assert limits.blocked == 0
    message.end()
    assert limits.blocked == 0


def test_a_task_that_a_handler_has_left_behind_does_not_count_as_waiting() -> None:
    limits = Limits(OPTIONS)
    message = _message(limits)
    message.begin_wait()
    message.begin_wait()
    message.end()
    assert limits.blocked == 0
    message.end_wait()
    message.end_wait()
    assert limits.blocked == 0


def test_a_handler_that_waits_for_another_peer_does_not_keep_its_own_connection_reading() -> None:
    limits, others = Limits(OPTIONS), Limits(OPTIONS)

    def run() -> None:
        current.set(_message(limits))
        assert begin_wait_for_peer(others) is None
        assert begin_wait_for_peer(limits) is not None

    copy_context().run(run)
    assert (limits.blocked, others.blocked) == (1, 0)


async def test_a_task_that_has_ended_is_forgotten() -> None:
    tasks = Tasks()
    await tasks.start(asyncio.sleep(0), ThrottledLogger(getLogger(__name__)))
    await asyncio.sleep(0)
    assert (tasks.running, tasks.started) == ({}, set())


def test_the_mark_doubles_when_no_handler_ends_until_the_queue_is_short_again() -> None:
    limits = Limits(Options(high_water_messages=4))
    limits.on_room = lambda: None

    def queued_until_reading_pauses() -> int:
        while not limits.must_pause():
            limits.add_queued(10)
        return limits.queued

    assert queued_until_reading_pauses() == 4
    limits.read_on()
    assert queued_until_reading_pauses() == 8
    while limits.queued > 1:
        limits.begin(10)
    assert queued_until_reading_pauses() == 4
    limits.read_on()
    while limits.queued:
        limits.begin(10)
    assert not limits.must_pause()
    for _ in range(4):  # a batch of lines, after which the reader asks
        limits.add_queued(10)
    assert limits.must_pause()
