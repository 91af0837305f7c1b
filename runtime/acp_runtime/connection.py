"""A connection: JSON-RPC both ways over a source of bytes and a writer, run on asyncio.

Joins what reads, understands, handles, calls and sends, and ends it all. Every task it starts is its own, and ended
when it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from logging import DEBUG, WARNING, getLogger
from time import monotonic
from typing import Any, TypeAlias

from acp_runtime.calling import Caller
from acp_runtime.calls import Calls
from acp_runtime.conduct import Conduct
from acp_runtime.decoding import Decoder
from acp_runtime.dispatch import Dispatcher
from acp_runtime.errors import ConnectionClosed
from acp_runtime.failures import error_answer, summary
from acp_runtime.lanes import Lanes
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingNotification, IncomingRequest, IncomingResponse, InvalidNotification, Refused
from acp_runtime.options import Options
from acp_runtime.outbox import Outbox
from acp_runtime.receiving import Inbox
from acp_runtime.roles import Handler
from acp_runtime.sides import Side
from acp_runtime.streams import ByteSource, ByteWriter
from acp_runtime.tasks import forget

WhyClosed: TypeAlias = Callable[[ConnectionClosed], Awaitable[ConnectionClosed]]

_logger = getLogger(__name__)


class Connection:
    """One side of a connection.

    Args:
        side: which one, with everything it handles.
        factory: makes the handler; gets the proxy for the other side.
        source: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: how it behaves.
        why_closed: adds to the reason when the peer has gone, such as an exit code.

    Attributes:
        remote: the proxy for the other side.
    """

    def __init__(
        self,
        side: Side[Any],
        factory: Callable[[Any], Handler],
        source: ByteSource,
        writer: ByteWriter,
        options: Options,
        why_closed: WhyClosed | None = None,
    ) -> None:
        self._options = options
        self._why_closed = why_closed
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[asyncio.Task[Any], Callable[[asyncio.Task[Any]], None]] = {}
        self._closed: ConnectionClosed | None = None
        self._stop: asyncio.Future[ConnectionClosed] = self._loop.create_future()
        self._log = Throttle(_logger)
        self._understood = side.role == "agent"
        self._garbage = ""
        self._decoder = Decoder(side.requests, side.notifications)
        self._outbox = Outbox(writer, options, self._write_failed)
        self._calls = Calls()
        self._inbox = Inbox(source, options, self._outbox, self._calls, self._receive)
        self._flow = self._inbox.flow
        self._lanes = Lanes(self._spawn, self._flow, options.high_water_messages)
        conduct = Conduct(side.profile, options)
        self._caller = Caller(
            conduct,
            self._flow,
            self._lanes,
            self._outbox,
            self._calls,
            called=self._inbox.go_on,
            turn_cancelled=self._turn_cancelled,
            stop=self.stop,
        )
        self.remote: Any = side.remote(self._caller)
        self._dispatcher = Dispatcher(
            side,
            factory(self.remote),
            conduct,
            self._flow,
            self._lanes,
            self._outbox,
            self._spawn,
            self._decoder.decode,
            options,
        )
        source.start(self._inbox)

    async def run(self) -> ConnectionClosed:
        """Run until the peer closes its side or `stop` is called. Cancelling it closes the connection, too.

        Returns:
            Why it ended.
        """
        over = self._inbox.over
        grace = 0.0
        reason = ConnectionClosed("The connection was closed by this side.")
        try:
            await asyncio.wait({over, self._stop}, return_when=asyncio.FIRST_COMPLETED)
            if self._outbox.broken and not over.done():
                # What the peer sent before it stopped reading still counts.
                await asyncio.wait({over}, timeout=self._options.eof_grace)
            reason = over.result() if over.done() else self._stop.result()
            grace = self._options.eof_grace if over.done() or self._outbox.broken else 0.0
        finally:
            await self._inbox.stop()
            await self._shut(reason, grace)
        return self._closed or reason

    def stop(self, reason: ConnectionClosed) -> None:
        """End the connection from this side."""
        if not self._stop.done():
            self._stop.set_result(reason)

    def _receive(self, lines: list[bytes]) -> None:
        on_frame, decode = self._options.on_frame, self._decoder.decode
        for line in lines:
            if on_frame is not None:
                on_frame("in", line, monotonic())
            message = decode(line)
            if isinstance(message, IncomingNotification):
                self._dispatcher.notification(message, line)
            elif isinstance(message, IncomingRequest):
                self._dispatcher.request(message, len(line))
            elif isinstance(message, IncomingResponse):
                self._caller.answered(message)
            elif isinstance(message, Refused):
                self._refused(message)
            elif isinstance(message, InvalidNotification):
                self._log.log(
                    WARNING,
                    "invalid",
                    "The peer sent an invalid %s: %s",
                    message.method,
                    summary(message.error.data, "params"),
                )
            else:
                self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)
            if not self._understood:
                self._understood = not isinstance(message, Refused)

    def _refused(self, message: Refused) -> None:
        """Answer what can't be handled. What an agent prints before its first message is reported once (a banner)."""
        if message.answers is not None:
            self._caller.answered(IncomingResponse(message.answers, message.about, False, None, False, b""))
        if message.id is None and message.error.code == -32700:
            if not self._understood and self._garbage:
                return
            self._garbage = self._garbage or message.about
        if message.about:
            self._log.log(WARNING, "refused", "The peer sent %s", message.about)
        self._outbox.answer(error_answer(message.id, message.error))

    def _turn_cancelled(self, session: str) -> None:
        self._dispatcher.answer_permissions(session)

    def _spawn(
        self, coroutine: Coroutine[Any, Any, Any], ended: Callable[[asyncio.Task[Any]], None]
    ) -> asyncio.Task[Any]:
        """A task of this connection; `ended` is called with it when it has ended."""
        task = self._loop.create_task(coroutine)
        self._tasks[task] = ended
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task)(task)

    def _write_failed(self, error: OSError) -> None:
        self.stop(ConnectionClosed(f"Writing to the peer failed: {error}."))

    async def _shut(self, reason: ConnectionClosed, grace: float) -> None:
        """End everything: calls, handlers (after `grace` seconds), then the stream, each with its deadline."""
        if grace and self._why_closed is not None:
            reason = await self._why_closed(reason)
        if self._garbage and not self._understood:
            explained = f"{reason.reason} Before that it sent {self._garbage}."
            reason = type(reason)(explained, reason.exit_code, reason.stderr)
        self._closed = reason
        self._caller.close(reason)
        if self._tasks and grace:
            await asyncio.wait(self._tasks, timeout=grace)
        self._lanes.closing = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=self._options.handler_deadline)
            for task in left:
                _logger.error("A handler did not end when it was cancelled: %r", task)
                # Or `asyncio.run` would wait for it for ever.
                forget(task)
        await self._outbox.close(self._options.flush_deadline)
