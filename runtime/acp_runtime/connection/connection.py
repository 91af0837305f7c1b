"""A connection: makes its parts from the bottom up. Each gets the parts below it that it uses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from acp_runtime.connection.both_sides import BothSides
from acp_runtime.connection.call import Calls
from acp_runtime.connection.channel import Channel, InstrumentedChannel
from acp_runtime.connection.dispatch import Dispatch
from acp_runtime.connection.effects import Effects
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held import HeldLines
from acp_runtime.connection.in_flight import Tasks
from acp_runtime.connection.interfaces import ByteSource, ByteWriter, PeerProcess
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.negotiation import Negotiation
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.request import Requests
from acp_runtime.connection.session import Sessions
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed
from acp_runtime.options import Options
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side


class Connection:
    """One side of a connection.

    Args:
        side: the side, with the methods that it handles.
        factory: makes the handler, given the proxy for the other side.
        source: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: the options of the connection.
        process: the subprocess at the other end, if there is one.

    Raises:
        BaseException: what the factory raises; the writer is closed then.

    Attributes:
        remote: the proxy for the other side.
        closed: done when everything has ended, with the reason.
        stopped: done when this side wants to end the connection, with the reason.
        is_hurried: whether the closing of the connection was cancelled, so that it hardly waits any longer.
    """

    def __init__(
        self,
        side: Side[Any],
        factory: Callable[[Any], Handler],
        source: ByteSource,
        writer: ByteWriter,
        options: Options,
        process: PeerProcess | None = None,
    ) -> None:
        self.options: Options = options
        self.process: PeerProcess | None = process
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.stopped: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.is_hurried: bool = False
        self.tasks: Tasks = Tasks()
        self.limits: Limits = Limits(options)
        self.reader: Reader = Reader(source, self.limits, options)
        self.writer: Writer = Writer(writer, options, self.limits, self.tasks, self.reader.finished, self.stop)
        try:
            self.begin(side, factory)
        except BaseException:
            writer.abort()
            raise
        self.reader.start()

    def begin(self, side: Side[Any], factory: Callable[[Any], Handler]) -> None:
        """Make the parts that depend on the side, and the handler. May be called again before any message was handled.

        Raises:
            BaseException: what the factory raises.
        """
        options, limits, writer = self.options, self.limits, self.writer
        sides, negotiation = BothSides(side), Negotiation(side.profile, options)
        guards = Guards(sides, options)
        held = HeldLines(writer.send, options.max_held_bytes)
        self.sessions: Sessions = Sessions(self.tasks, limits, options.max_held_bytes)
        effects = Effects(sides, guards, self.sessions, held)
        self.requests: Requests = Requests(sides, options.disclose_errors, self.tasks, writer, negotiation, effects)
        calling = (sides, options, self.process, limits, writer, negotiation, effects, self.sessions)
        self.calls: Calls = Calls(*calling, self.requests, self.stop)
        sending = (sides, self.process, self.closed, self.tasks, limits, writer, guards, held, self.calls)
        kind = Channel if options.instrument is None else InstrumentedChannel
        self.channel: Channel = kind(*sending, options.instrument)
        self.remote: Any = side.remote(self.channel)
        sides.handler = side.make_handler(factory, self.remote)
        receiving = (sides, options, self.reader, limits, writer, negotiation, guards, self.sessions)
        self.dispatch: Dispatch = Dispatch(*receiving, self.requests, self.calls)
        self.reader.receive = self.dispatch.receive

    def stop(self, reason: str = "The connection was closed by this side.") -> None:
        """End the connection from this side."""
        if not self.stopped.done():
            self.stopped.set_result(ConnectionClosed(reason))
