"""Serves one of several versions of the protocol: the one that the first valid opening request asks for.

Before that, notifications and responses are ignored, and other requests, unreadable lines and invalid opening requests
are answered with an error; the client may try again. The highest served version that is not above the requested one is
chosen. If a higher one was requested, params that the chosen one can't read are replaced. Nothing is routed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from acp_runtime.connection import Connection, run
from acp_runtime.connection.interfaces import ByteSource, ByteWriter
from acp_runtime.connection.state import version_in
from acp_runtime.errors import InvalidParams, InvalidRequest, ParseError, UnsupportedProtocolVersion
from acp_runtime.jsonrpc.decoding import decoder_of
from acp_runtime.jsonrpc.error_responses import sole_error, wire_error
from acp_runtime.jsonrpc.messages import Batch, IncomingRequest, Message, Refused
from acp_runtime.jsonrpc.strict_json import ANY, parse, write
from acp_runtime.models.json_values import as_object
from acp_runtime.options import Options
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side

# The side of a version, the factory of its handler, and a function that turns the params of an opening request for a
# higher version into params for this one.
Served: TypeAlias = tuple[Side[Any], Callable[[Any], Any], Callable[[dict[str, Any]], dict[str, Any]]]


async def serve(served: Sequence[Served], source: ByteSource, writer: ByteWriter, options: Options) -> None:
    """Serve one of these versions until the client closes the connection.

    Args:
        served: the versions, lowest first.
        source: where the client's bytes come from.
        writer: where the agent's bytes go.
        options: the options of the connection.
    """
    connection = Connection(served[0][0], lambda _: Handler(), source, writer, options)
    opening = _Opening(connection, served)
    connection.reader.receive = opening.receive
    await run(connection)
    if opening.failure is not None:
        raise opening.failure


class _Opening:
    """Receives the lines of a connection in place of its `Dispatch`, until one of them opens it.

    Attributes:
        failure: what the factory raised, which ends the connection.
    """

    def __init__(self, connection: Connection, served: Sequence[Served]) -> None:
        self._connection = connection
        self._served = served
        self._side = side = served[0][0]
        self._decode = decoder_of(side).decode
        self.failure: BaseException | None = None

    def receive(self, line: bytes) -> None:
        """Refuse a message, unless it opens the connection. The next ones go to the dispatch that is made for it."""
        if self.failure is not None:
            return
        message = self._decode(line)
        if isinstance(message, Batch):
            message = Refused(None, InvalidRequest(), "a batch before initialize")
        if isinstance(message, (IncomingRequest, Refused)) and (refused := self._open(message, line)):
            self._connection.dispatch.receive(line, refused)

    def _open(self, message: IncomingRequest | Refused, line: bytes) -> Refused | None:
        """Open the connection in the version of an opening request. Return the refusal of any other message."""
        if isinstance(message, Refused) and isinstance(message.error, (ParseError, InvalidRequest)):
            return message
        method = self._side.requests.get(message.method)
        if method is None or not method.opens:
            return Refused(message.id, InvalidRequest("The first request has to be initialize"))
        params = as_object(parse(line).get("params")) or {}
        requested = version_in(params, self._side.profile.version)
        if requested is None:
            return Refused(message.id, getattr(message, "error", InvalidParams()))
        versions = [side.profile.protocol_version for side, _, _ in self._served]
        served = [entry for entry, version in zip(self._served, versions, strict=True) if version <= requested]
        may_refuse = len(versions) > 1 or self._side.profile.refuses_lower
        if not served and may_refuse and self._connection.options.guards != "off":
            return Refused(message.id, UnsupportedProtocolVersion(data={"requested": requested, "supported": versions}))
        side, factory, replaced = (served or self._served[:1])[-1]
        if requested > side.profile.protocol_version:
            line = write(ANY.to_json, {**parse(line), "params": replaced(params)})
        read = decoder_of(side).decode(line)
        if isinstance(read, Refused):
            return Refused(read.id, read.error)
        return self._begin(side, factory, line, read)

    def _begin(self, side: Side[Any], factory: Callable[[Any], Any], line: bytes, read: Message) -> Refused | None:
        """Make the handler and pass an opening request on to it. Return a refusal if the factory fails."""
        try:
            self._connection.begin(side, factory)
        except BaseException as error:  # it would be lost in a callback of the event loop
            self.failure = error
            self._connection.lifecycle.stop("The factory has failed.")
            disclose = self._connection.options.disclose_errors
            return Refused(getattr(read, "id", None), wire_error(sole_error(error), disclose=disclose))
        self._connection.dispatch.receive(line, read)
        return None
