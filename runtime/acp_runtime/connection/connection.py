"""A connection: makes its parts from the bottom up. Each gets the parts below it that it uses."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from logging import ERROR, getLogger
from typing import Any

from acp_runtime.connection.calls import Calls, InstrumentedCalls
from acp_runtime.connection.dispatch import Dispatch
from acp_runtime.connection.in_flight import Tasks
from acp_runtime.connection.interfaces import ByteSource, ByteWriter, PeerProcess
from acp_runtime.connection.lifecycle import Lifecycle
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.request import Requests
from acp_runtime.connection.session import Sessions
from acp_runtime.connection.state import ProtocolState
from acp_runtime.connection.writer import Writer
from acp_runtime.logs import log
from acp_runtime.options import Options
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)


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
        BaseException: what the factory raises; nothing was read or written then.

    Attributes:
        remote: the proxy for the other side.
        lifecycle: how far the connection is from its end.
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
        self.lifecycle: Lifecycle = Lifecycle()
        self.tasks: Tasks = Tasks()
        self.limits: Limits = Limits(options)
        self.reader: Reader = Reader(source, self.lifecycle, self.limits, options)
        self.writer: Writer = Writer(
            target=writer,
            options=options,
            lifecycle=self.lifecycle,
            limits=self.limits,
            tasks=self.tasks,
        )
        try:
            self.begin(side, factory)
        except BaseException:
            for task in self.tasks.started:  # by the factory
                task.cancel()
            raise
        self.reader.start()

    def begin(self, side: Side[Any], factory: Callable[[Any], Handler]) -> None:
        """Make the parts that depend on the side, and the handler. May be called again before any message was handled.

        Raises:
            BaseException: what the factory raises.
        """
        state = ProtocolState(side, self.options)
        self.sessions: Sessions = Sessions(
            tasks=self.tasks,
            limits=self.limits,
            send=self.writer.send,
            max_held_bytes=self.options.max_held_bytes,
        )
        self.requests: Requests = Requests(
            state=state,
            disclose=self.options.disclose_errors,
            tasks=self.tasks,
            sessions=self.sessions,
        )
        kind = Calls if self.options.instrument is None else InstrumentedCalls
        self.calls: Calls = kind(
            state=state,
            options=self.options,
            process=self.process,
            lifecycle=self.lifecycle,
            limits=self.limits,
            writer=self.writer,
            sessions=self.sessions,
            requests=self.requests,
        )
        self.remote: Any = side.remote(self.calls)
        try:
            state.handler = side.make_handler(factory, self.remote)
        except Exception:
            raise
        except BaseException as error:
            log(_logger, ERROR, "The factory of the %s failed", side.role, error=error)
            if isinstance(error, CancelledError):  # nothing was cancelled, and nobody would report it
                raise RuntimeError("The factory raised CancelledError.") from error
            raise
        self.dispatch: Dispatch = Dispatch(
            state=state,
            options=self.options,
            reader=self.reader,
            limits=self.limits,
            writer=self.writer,
            sessions=self.sessions,
            requests=self.requests,
            calls=self.calls,
        )
        self.reader.receive = self.dispatch.receive

    def stop(self) -> None:
        """End the connection from this side."""
        self.lifecycle.stop("The connection was closed by this side.")
