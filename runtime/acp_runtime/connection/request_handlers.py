"""The handlers of requests: each in a task of its own, and one answer for each, whatever the handler does.

The answer is made at the end of the handler's own task. A task that never gets there, because it was cancelled before
its first step, is answered in its done-callback (rule 13).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.forks import leave_if_forked
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import Default, Handle, InFlightRequest, current
from acp_runtime.connection.request_index import RequestIndex
from acp_runtime.connection.response_lines import ResponseLines
from acp_runtime.connection.session_queues import Spawn
from acp_runtime.connection.waiting_requests import WaitingRequests
from acp_runtime.connection.writer import Writer
from acp_runtime.jsonrpc.messages import IncomingRequest, Message
from acp_runtime.stubs.methods import Profile, Request
from acp_runtime.stubs.roles import Handler


class RequestHandlers:
    """Runs the handlers of one side.

    Args:
        profile: the version of the protocol.
        handler: whose methods they are.
        answers: makes the answers.
        running: the requests that are being handled.
        waiting: those that wait for others to end.
        backpressure: is told of what is handled.
        held: notifications of this side that leave after an answer.
        writer: where answers go.
        spawn: creates a task that the connection owns, and tells of its end.
        decode: understands a line.
        default: what the base class of handlers does with a notification.
        on_opened: called when a request that opens the connection was answered.

    Attributes:
        opening: how many requests that open the connection are being handled.
    """

    def __init__(
        self,
        profile: Profile,
        handler: Handler,
        answers: ResponseLines,
        running: RequestIndex[InFlightRequest],
        waiting: WaitingRequests,
        backpressure: Backpressure,
        held: HeldNotifications,
        writer: Writer,
        spawn: Spawn,
        decode: Callable[[bytes], Message],
        default: Default,
        on_opened: Callable[[], None],
    ) -> None:
        self._profile = profile
        self._handler = handler
        self._answers = answers
        self._running = running
        self._waiting = waiting
        self._backpressure = backpressure
        self._held = held
        self._writer = writer
        self._spawn = spawn
        self._decode = decode
        self._default = default
        self._on_opened = on_opened
        self._process_id = os.getpid()
        self._loop = asyncio.get_running_loop()
        self.opening: int = 0
        backpressure.on_all_blocked = self._start_waiting_soon

    def start(self, message: IncomingRequest, method: Request[Any, Any] | None, session: str | None, size: int) -> None:
        """Start the handler of a request of `size` bytes."""
        handle: Handle
        if method is None:
            handle = partial(self._handler.ext_request, message.method)
        else:
            handle = getattr(self._handler, method.name)
            self.opening += method.opens
        if session is not None and session not in self._held.known_sessions:
            for line in self._held.session_known(session):
                self._writer.send(line)
        running = InFlightRequest(self._default, message.id, message.method, method, session)
        if running.creates_session:
            self._held.begin_creation(running)
        self._running.add(running)
        self._backpressure.start_request(running, size)
        running.task = self._spawn(self._handle(running, handle, message.params), partial(self._ended, running))

    def _start_waiting(self) -> None:
        for waiting in self._waiting.take_startable():
            message = self._decode(waiting.line)
            assert isinstance(message, IncomingRequest), "A line means the same when it is read again."
            self.start(message, waiting.method, waiting.session, len(waiting.line))

    def _start_waiting_soon(self) -> None:
        self._loop.call_soon(self._start_waiting)

    async def _handle(self, running: InFlightRequest, handle: Handle, params: Any) -> None:
        current.set(running)
        running.started = True
        try:
            result = await handle(params)
            line = self._answers.result(running, params, result)
        except GeneratorExit:
            raise  # the handler was abandoned, and its task is thrown away
        # SystemExit and pytest's Failed, too: asyncio would stop the loop or leave the request unanswered.
        except BaseException as error:
            leave_if_forked(self._process_id, error)
            self._finish(running, self._answers.error(running, error), None)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self._finish(running, line, self._new_session(running, result))

    def _ended(self, running: InFlightRequest, task: asyncio.Task[None]) -> None:
        """The task has ended; perhaps before it could answer."""
        if not running.done:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            self._finish(running, self._answers.error(running, error or asyncio.CancelledError()), None)

    def _finish(self, running: InFlightRequest, line: bytes, session: str | None) -> None:
        # The task's context holds the message: together they would wait for Python's garbage collector.
        running.task = None
        self._running.remove(running)
        self._backpressure.end_request(running)
        if not running.answered:
            self._writer.answer(line, flush=not self._running.by_id)
        if running.creates_session:
            for held in self._held.end_creation(running, session):
                self._writer.send(held)
        if running.method is not None and running.method.opens:
            self.opening -= 1
            self._on_opened()
        if self._waiting.in_order:
            self._start_waiting()

    def _new_session(self, running: InFlightRequest, result: Any) -> str | None:
        """The session that a result names. Takes note of one that has ended."""
        method = running.method
        if method is not None and method.ends == self._profile.session_attribute and running.session is not None:
            self._held.session_ended(running.session)
        if not running.creates_session or running.answered:
            return None
        return str(getattr(result, self._profile.session_attribute))
