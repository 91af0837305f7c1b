"""Runs a connection to its end, and closes it (rules 21 and 22).

If the peer closes its side, the received messages are handled in order, then pending calls fail. If this side closes,
handlers get a short time and the rest is discarded. A further cancellation hurries this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from logging import ERROR, WARNING, getLogger
from typing import Any

from acp_runtime.connection.connection import Connection
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import log
from acp_runtime.shielded_waits import ShieldedWaits

_logger = getLogger(__name__)

# The most seconds that a wait takes when the closing is hurried: cancelled handlers end meanwhile.
_HURRIED = 0.05


async def run(connection: Connection) -> ConnectionClosed:
    """Run until the peer closes its side, `Connection.stop` is called or this is cancelled, and close the connection.

    Returns:
        The reason why it ended.
    """

    def stop_or_hurry() -> None:
        lifecycle.is_hurried = lifecycle.stopped.done()
        connection.stop()
        if lifecycle.is_hurried:
            task.cancel()

    lifecycle, closing = connection.lifecycle, ShieldedWaits()
    while True:
        task = asyncio.create_task(_close(connection))
        await closing.finish(task, stop_or_hurry)
        if not task.cancelled():
            break
        # After a second Ctrl-C `asyncio.run` cancels every task, this one too.
        lifecycle.is_hurried = True
        connection.stop()
    closing.raise_cancelled()
    return task.result()


async def _close(connection: Connection) -> ConnectionClosed:
    """Wait until either side ends the connection, then close it. Return the reason.

    If this is cancelled, it has to be called again.
    """
    lifecycle, options = connection.lifecycle, connection.options
    peer_left, stopped = lifecycle.peer_left, lifecycle.stopped
    await asyncio.wait({peer_left, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if connection.writer.broken and not peer_left.done():
        # Read what the peer sent before it stopped reading.
        await _wait(connection, peer_left, options.eof_grace)
    if peer_left.done() and not peer_left.cancelled():
        reason = await _after_the_peer_left(connection, peer_left.result())
    else:
        reason = connection.dispatch.explain(stopped.result())
        connection.calls.cancel_all()
        connection.calls.close(reason)
    await connection.reader.stop()
    handling = connection.tasks.running.keys() - connection.tasks.started
    await _wait(connection, _all(handling), options.eof_grace)
    await _end_handlers(connection, reason)
    await connection.writer.close(0 if lifecycle.is_hurried else options.flush_deadline)
    lifecycle.closed.set_result(reason)
    return reason


async def _after_the_peer_left(connection: Connection, reason: ConnectionClosed) -> ConnectionClosed:
    """Handle the received messages: requests for a short time, notifications as long as handlers finish in time."""
    if connection.process is not None and not connection.lifecycle.is_hurried:
        reason = await connection.process.why_closed(reason)
    reason = connection.dispatch.explain(reason)
    connection.calls.close(reason, when_handled=True)
    connection.sessions.release_all()
    _all(connection.sessions.running).add_done_callback(lambda _: connection.calls.close(reason))
    await _until_answered(connection)
    connection.dispatch.refuse_postponed()
    connection.requests.cancel_all()
    await _until_handled(connection)
    connection.calls.close(reason)
    return reason


async def _until_answered(connection: Connection) -> None:
    """Give requests `eof_grace` in total. Some start only when others end: those that wait for `initialize`."""
    clock, stopped = asyncio.get_running_loop().time, connection.lifecycle.stopped
    deadline = clock() + connection.options.eof_grace
    while (tasks := connection.requests.running) and not stopped.done() and clock() < deadline:
        await _wait(connection, _all(tasks), deadline - clock(), stopped)


async def _until_handled(connection: Connection) -> None:
    """Wait until all notifications have been handled, or no handler finishes within `handler_deadline`."""
    before, stopped = -1, connection.lifecycle.stopped
    while (tasks := connection.sessions.running) and before != connection.limits.ended and not stopped.done():
        before = connection.limits.ended
        await _wait(connection, _all(tasks), connection.options.handler_deadline, stopped)


async def _end_handlers(connection: Connection, reason: ConnectionClosed) -> None:
    """Cancel the running handlers, and discard the messages that wait."""
    discarded = connection.limits.queued + len(connection.reader.lines)
    if discarded:
        log(_logger, WARNING, "Discarded %s received messages that were not handled: %s", discarded, reason.reason)
    connection.reader.lines.clear()  # counted once, although this may be called again
    connection.sessions.discard_all(reason)
    connection.calls.sends_nothing = True
    connection.dispatch.refuse_postponed()
    connection.requests.cancel_all()
    for task in set(connection.tasks.running) - set(connection.requests.running):
        task.cancel()
    await _wait(connection, _all(connection.tasks.running), connection.options.handler_deadline)
    abandoned = tuple(connection.tasks.running)
    for task in abandoned:
        log(_logger, ERROR, "A handler did not end when it was cancelled, and is abandoned: %s", repr(task))
        connection.tasks.abandon(task)
    await _wait(connection, _all(abandoned), _HURRIED)


async def _wait(
    connection: Connection, event: asyncio.Future[Any], timeout: float, *others: asyncio.Future[Any]
) -> None:
    """Wait for one of these futures, at most `timeout` seconds, and hardly at all if the closing is hurried."""
    timeout = min(timeout, _HURRIED) if connection.lifecycle.is_hurried else timeout
    await asyncio.wait({event, *others}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)


def _all(tasks: Iterable[asyncio.Task[Any]]) -> asyncio.Future[Any]:
    """Return a future that is done when all tasks have ended, however they did."""
    return asyncio.gather(*tasks, return_exceptions=True)
