"""Serves one of several versions of the protocol: the one that the first valid opening request asks for.

Before that, notifications and responses are ignored, and other requests, unreadable lines and invalid opening requests
are answered with an error; the client may try again. The highest served version that is not above the requested one is
chosen. If a higher one was requested, params that the chosen one can't read are replaced. Nothing is routed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from acp_runtime.connect import on_stdio
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
from acp_runtime.stubs.methods import Profile
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side
from acp_runtime.transports.transport import Transport, TransportEnd

T = TypeVar("T")
_Factory: TypeAlias = Callable[[Any], Any]
_Served: TypeAlias = tuple[Side[Any], _Factory]


async def serve_stdio(package: str, factories: Mapping[str, _Factory | None], options: Options) -> None:
    """Serve one of several versions on stdin and stdout until the client closes them.

    Args:
        package: the package with the profiles.
        factories: what makes the agent, by profile; None for a version that isn't served.
        options: the options of the connection.
    """
    served = _find_sides(package, factories)
    await on_stdio(lambda reader, writer: _serve(served, reader, writer, options))


async def serve(package: str, factories: Mapping[str, _Factory | None], transport: Transport, options: Options) -> None:
    """Serve one of several versions over a transport until the client closes it. Then close the transport."""
    served = _find_sides(package, factories)
    async with TransportEnd(transport, options.flush_deadline) as end:
        await _serve(served, end, end, options)


def find_profiles(package: str, arguments: Mapping[str, T | None]) -> list[tuple[Any, T]]:
    """Return the packages of the profiles with an argument, the lowest version first, and their arguments.

    Raises:
        TypeError: no profile has an argument, or two of the same version.
    """
    profiles = [
        (import_module(f"{package}.{name}"), argument) for name, argument in arguments.items() if argument is not None
    ]
    if not profiles or len({profile.PROTOCOL_VERSION for profile, _ in profiles}) < len(profiles):
        raise TypeError(f"Give at least one of {', '.join(arguments)}, but only one for each version of the protocol.")
    return profiles


def _find_sides(package: str, factories: Mapping[str, _Factory | None]) -> list[_Served]:
    return [
        (import_module(f"{profile.__name__}.connecting").AGENT_SIDE, factory)
        for profile, factory in find_profiles(package, factories)
    ]


async def _serve(served: Sequence[_Served], source: ByteSource, writer: ByteWriter, options: Options) -> None:
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

    def __init__(self, connection: Connection, served: Sequence[_Served]) -> None:
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
        versions = [side.profile.protocol_version for side, _ in self._served]
        served = [entry for entry, version in zip(self._served, versions, strict=True) if version <= requested]
        may_refuse = len(versions) > 1 or self._side.profile.refuses_lower
        if not served and may_refuse and self._connection.options.guards != "off":
            return Refused(message.id, UnsupportedProtocolVersion(data={"requested": requested, "supported": versions}))
        side, factory = (served or self._served[:1])[-1]
        if requested > side.profile.protocol_version:
            line = _adapt(line, params, side)
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


def _adapt(line: bytes, params: dict[str, Any], side: Side[Any]) -> bytes:
    """Return the opening request for a newer version as one for this side's version."""
    profile = side.profile
    adapted = {**_rename_advertised(params, profile), profile.version: profile.protocol_version}
    result = write(ANY.to_json, {**parse(line), "params": adapted})
    unknown_info = profile.newer.get("unknown_info")
    if unknown_info is not None and isinstance(decoder_of(side).decode(result), Refused):
        _, info = profile.advertised["client"]
        result = write(ANY.to_json, {**parse(line), "params": {**adapted, info: unknown_info}})
    return result


def _rename_advertised(params: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Return params in which what newer versions advertise has the names of this one."""
    names = profile.newer.get("advertised")
    if names is None or not params.keys() & set(names):
        return params
    (newer_capabilities, newer_info), (capabilities, info) = names, profile.advertised["client"]
    renamed = dict(params)
    advertised = as_object(renamed.pop(newer_capabilities, None)) or {}
    renamed.setdefault(capabilities, {**advertised, **profile.newer.get("without", {})})
    if newer_info in renamed:
        renamed.setdefault(info, renamed.pop(newer_info))
    return renamed
