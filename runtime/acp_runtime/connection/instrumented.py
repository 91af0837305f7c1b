"""Passes messages through `Options.instrument`. A connection without that option uses nothing of this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_runtime.connection.channel import Channel
from acp_runtime.connection.handler import Handle, session_of
from acp_runtime.options import Instrument, InstrumentedMessage
from acp_runtime.stubs.methods import AnyMethod, Notification, Request

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

SUPPRESSED = "The context manager that Options.instrument returned has suppressed an exception. Let it propagate."


class InstrumentedChannel(Channel):
    """A channel that sends everything inside of the context manager for it.

    Args:
        connection: the connection.
        instrument: makes the context managers.
    """

    def __init__(self, connection: Connection, instrument: Instrument) -> None:
        super().__init__(connection)
        self._instrument = instrument

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        with self._instrument(self._message(wire, method, self._connection.calls.next_id, params)) as sent:
            return await super()._call(wire, method, sent)
        raise RuntimeError(SUPPRESSED)

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        with self._instrument(self._message(wire, method, None, params)) as sent:
            super()._send_notification(wire, method, sent)

    def _message(self, wire: str, method: AnyMethod | None, id: int | None, params: Any) -> InstrumentedMessage:
        return InstrumentedMessage("out", wire, method, id, session_of(self._connection.profile, params), params)


async def handle_inside(instrument: Instrument, message: InstrumentedMessage, handle: Handle, argument: Any) -> None:
    """Handle a notification inside of the context manager for it."""
    with instrument(message):
        await handle(argument)
