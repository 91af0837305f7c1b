"""Runs the handlers of requests, each in a task of its own, and answers each request once (rule 13).

The response is made at the end of the handler's task. A task that was cancelled before its first step never gets there;
its done-callback answers instead.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.handler_tasks import HandlerTasks, ended_by_ctrl_c, leave_if_forked
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import Default, Handle, InFlightRequest, current
from acp_runtime.connection.request_index import RequestIndex
from acp_runtime.connection.response_lines import ResponseLines
from acp_runtime.connection.waiting_requests import WaitingRequests
from acp_runtime.connection.writer import Writer
from acp_runtime.jsonrpc.messages import IncomingRequest, Message
from acp_runtime.stubs.methods import Profile, Request
from acp_runtime.stubs.roles import Handler


class RequestHandlers:
    """Runs the handlers of requests of one side.

    Args:
        profile: the version of the protocol.
        handler: has the methods that handle requests.
        lines: makes the response lines.
        running: the requests whose handlers run.
        waiting: the requests that wait for others to end.
        backpressure: counts running requests.
        held: notifications of this side that leave after a response.
        writer: sends responses.
        tasks: creates the tasks of handlers.
        decode: decodes a line.
        default: the connection's default handling of a notification.
        on_opened: called when a request that opens the connection was answered.

    Attributes:
        opening: the number of running requests that open the connection.
    """

    def __init__(
        self,
        profile: Profile,
        handler: Handler,
        lines: ResponseLines,
        running: RequestIndex[InFlightRequest],
        waiting: WaitingRequests,
        backpressure: Backpressure,
        held: HeldNotifications,
        writer: Writer,
        tasks: HandlerTasks,
        decode: Callable[[bytes], Message],
        default: Default,
        on_opened: Callable[[], None],
    ) -> None:
        self._profile = profile
        self._handler = handler
        self._lines = lines
        self._running = running
        self._waiting = waiting
        self._backpressure = backpressure
        self._held = held
        self._writer = writer
        self._tasks = tasks
        self._decode = decode
        self._default = default
        self._on_opened = on_opened
        self._process_id = os.getpid()
        self._loop = asyncio.get_running_loop()
        self.opening: int = 0

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
        request = InFlightRequest(self._default, message.id, message.method, method, session, size)
        if request.creates_session:
            self._held.begin_creation(request)
        self._running.add(request)
        self._backpressure.start_request(request)
        request.task = self._tasks.create(self._handle(request, handle, message.params), partial(self._ended, request))

    def start_waiting_soon(self) -> None:
        """Start waiting requests in the next iteration of the event loop, as far as backpressure allows."""
        self._loop.call_soon(self._start_waiting)

    def _start_waiting(self) -> None:
        for waiting in self._waiting.take_startable():
            message = self._decode(waiting.line)
            assert isinstance(message, IncomingRequest), "Decoding a line again gives the same message."
            self.start(message, waiting.method, waiting.session, len(waiting.line))

    async def _handle(self, request: InFlightRequest, handle: Handle, params: Any) -> None:
        current.set(request)
        request.started = True
        try:
            result = await handle(params)
            line = self._lines.result(request, params, result)
        except GeneratorExit:
            raise  # the handler was abandoned, and its task is thrown away
        # SystemExit and pytest's Failed, too: asyncio would stop the loop or leave the request unanswered.
        except BaseException as error:
            leave_if_forked(self._process_id, error)
            self._finish(request, self._lines.error(request, error), None)
            if isinstance(error, KeyboardInterrupt):
                ended_by_ctrl_c()
                raise
        else:
            if request.method is not None and request.method.ends is not None:
                self._forget_session(request, request.method)
            self._finish(request, line, self._new_session(request, result) if request.creates_session else None)

    def _ended(self, request: InFlightRequest, task: asyncio.Task[None]) -> None:
        """Answer a request whose task ended before it could answer."""
        if not request.done:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            self._finish(request, self._lines.error(request, error or asyncio.CancelledError()), None)

    def _finish(self, request: InFlightRequest, line: bytes, session: str | None) -> None:
        # The task's context holds the request: only the garbage collector could free them together.
        request.task = None
        self._running.remove(request)
        self._backpressure.end_request(request)
        if not request.answered:
            self._writer.answer(line, flush=not self._running.by_id)
        if request.creates_session:
            for held in self._held.end_creation(request, session):
                self._writer.send(held)
        if request.method is not None and request.method.opens:
            self.opening -= 1
            self._on_opened()
        if self._waiting.in_order:
            self._start_waiting()

    def _forget_session(self, request: InFlightRequest, method: Request[Any, Any]) -> None:
        """Forget the session that a request has ended, if it was one."""
        if method.ends == self._profile.session_attribute and request.session is not None:
            self._held.session_ended(request.session)

    def _new_session(self, request: InFlightRequest, result: Any) -> str | None:
        """Return the new session that a result names; None if the request was answered before."""
        return None if request.answered else str(getattr(result, self._profile.session_attribute))
