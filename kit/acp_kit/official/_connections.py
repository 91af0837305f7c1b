"""The official connections, one class for each role, carried by the runtime."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Self

import acp.core
import acp.schema
from acp.agent.router import build_agent_router
from acp.client.router import build_client_router
from acp.exceptions import RequestError
from acp.telemetry import span_context
from pydantic import BaseModel, TypeAdapter, ValidationError

from acp_kit.official._calls import TO_AGENT, TO_CLIENT, add_calls
from acp_kit.official._observers import Observers
from acp_kit.official._sides import AGENT_SIDE, CLIENT_SIDE
from acp_kit.official._warnings import warn_caller
from acp_runtime import ConnectionClosed, InvalidResponse, Options, current_request, errors
from acp_runtime.connect import Connector
from acp_runtime.plain_json import JsonRemote, make_handler
from acp_runtime.transports import StreamTransport


class _Streams(StreamTransport):
    """A pair of asyncio streams, which stay open when the connection ends.

    Args:
        reader: the stream from the peer.
        writer: the stream to the peer.
        timeout: the longest silence of the peer, in seconds.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float | None) -> None:
        super().__init__(reader, writer)
        self._writer = writer
        self._timeout = timeout
        self.is_listening = asyncio.Event()
        self.timed_out = False

    async def receive(self) -> bytes:
        if not self.is_listening.is_set():
            await self.is_listening.wait()
        if self._timeout is None:
            return await super().receive()
        try:
            async with asyncio.timeout(self._timeout):
                return await super().receive()
        except TimeoutError:
            self.timed_out = True
            raise

    async def close(self) -> None:
        await self._writer.drain()


class Connection:
    """The part of a connection that both roles have.

    Attributes:
        connector: connects the role over stdio, to a process, or over a transport.
        options: the options of the runtime.
        is_closed: whether `close` was called.
        end_process: ends the process at the other end; None if this side started none.
    """

    _side: ClassVar[Any]
    _build_router: ClassVar[Any]
    connector: ClassVar[Connector[Any, Any, JsonRemote, JsonRemote]]
    options: Options
    is_closed: bool
    end_process: Callable[[], Coroutine[Any, Any, None]] | None
    _streams: _Streams | None

    def __init__(
        self,
        to_handler: Any,
        input_stream: Any,
        output_stream: Any = None,
        listening: bool = True,
        *,
        use_unstable_protocol: bool = False,
        receive_timeout: float | None = None,
        **connection_kwargs: Any,
    ) -> None:
        if not isinstance(input_stream, asyncio.StreamWriter) or not isinstance(output_stream, asyncio.StreamReader):
            advice = "Connections over HTTP and WebSockets stay with the official SDK."
            raise TypeError(f"{type(self).__name__} requires asyncio StreamWriter/StreamReader. {advice}")
        self._prepare(to_handler, use_unstable_protocol, **connection_kwargs)
        streams = self._streams = _Streams(output_stream, input_stream, receive_timeout)
        if listening:
            streams.is_listening.set()
        self.start(self.connector.serve(self.connected, streams, options=self.options))

    @classmethod
    def prepared(cls, to_handler: Any, *, use_unstable_protocol: bool = False, **connection_kwargs: Any) -> Self:
        """Return a connection that is not connected yet. Pass `connected` to a method of `connector`."""
        connection = cls.__new__(cls)
        connection._prepare(to_handler, use_unstable_protocol, **connection_kwargs)
        return connection

    def _prepare(
        self, to_handler: Any, use_unstable_protocol: bool, *, observers: Any = None, **connection_kwargs: Any
    ) -> None:
        if connection_kwargs:
            names = ", ".join(sorted(connection_kwargs))
            warn_caller(f"acp_kit.official has no argument {names}: it is ignored.", RuntimeWarning)
        # Official code sends what the peer doesn't advertise.
        self.options = Options(guards="off", on_frame=Observers(observers).on_frame if observers else None)
        self.end_process = None
        self._streams = None
        self._task: asyncio.Task[None] | None = None
        self.is_closed = False
        self._remote: asyncio.Future[JsonRemote] = asyncio.get_running_loop().create_future()
        handler = to_handler(self) if callable(to_handler) else to_handler
        self._router = self._build_router(handler, use_unstable_protocol=use_unstable_protocol)
        on_connect = getattr(handler, "on_connect", None)
        if on_connect is not None:
            on_connect(self)

    def connected(self, remote: JsonRemote) -> Any:
        """Keep the proxy for the peer, and return the handler for its messages."""
        self._remote.set_result(remote)
        return make_handler(self._side, self._serve)

    def start(self, serving: Coroutine[Any, Any, None]) -> None:
        """Serve in a task, which `close` ends."""
        self._task = asyncio.create_task(serving, name=f"acp-{self._side.role}")

    async def listen(self) -> None:
        """Handle messages until the peer closes its side, or `close` is called."""
        if self._streams is not None:
            self._streams.is_listening.set()
        if self._task is None:
            return
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.result()
        if self._streams is not None and self._streams.timed_out:
            raise RequestError.internal_error({"details": "Agent timeout"})

    async def close(self) -> None:
        """End the connection, and the process at the other end if this side started it."""
        is_first = not self.is_closed
        self.is_closed = True
        if is_first and self.end_process is not None:
            # In a task, because a handler that calls this is cancelled.
            self._task = asyncio.create_task(self.end_process(), name="acp-closing")
        elif is_first and self._task is not None:
            self._task.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def on_connect(self, conn: Any) -> None:
        """Do nothing, as in the official class, which is also an interface."""

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call an extension method of the peer, given without its underscore."""
        result: dict[str, Any] = await self.send_request(f"_{method}", _plain(params))
        return result

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification of an extension method, given without its underscore."""
        await self.send_notification(f"_{method}", _plain(params))

    async def send_request(self, method: str, params: Any = None) -> Any:
        """Send a request, and return its result as plain JSON.

        Raises:
            RequestError: if the peer answers with an error, or with something invalid.
            ConnectionError: if the connection ends before.
        """
        remote = await self._connected_remote()
        try:
            return await remote.send_request(method, params)
        except errors.RequestError as error:
            raise RequestError(error.code, error.message, error.data) from None
        except InvalidResponse as error:
            raise RequestError.internal_error({"details": str(error)}) from None
        except ConnectionClosed as error:
            raise ConnectionError(f"Connection closed: {error}") from error

    async def send_notification(self, method: str, params: Any = None) -> None:
        """Send a notification.

        Raises:
            ConnectionError: if the connection has ended.
        """
        remote = await self._connected_remote()
        try:
            await remote.send_notification(method, params)
        except ConnectionClosed as error:
            raise ConnectionError(f"Connection closed: {error}") from error

    async def _connected_remote(self) -> JsonRemote:
        if not self._remote.done() and self._task is not None:
            either: set[asyncio.Future[Any]] = {self._remote, self._task}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self.is_closed or not self._remote.done():
            raise ConnectionError("Connection closed")
        return self._remote.result()

    async def _serve(self, method: str, params: Any, is_notification: bool) -> Any:
        """Handle a message with the official router, which validates params and calls the handler."""
        kind = "notification" if is_notification else "request"
        with span_context(f"acp.{kind}", attributes={"method": method}):
            try:
                result = await self._router(method, params, is_notification)
                return None if is_notification else _result(result)
            except Exception as error:
                if is_notification:
                    logging.exception("Unhandled error while handling notification method=%s", method)
                    return None
                request = current_request()
                if request is not None and request.turn_cancelled:
                    raise  # the connection answers that the turn is cancelled
                raise _error_answer(method, error) from None


def _result(result: Any) -> Any:
    """Return the result of a handler as plain JSON."""
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    return _plain(result)


def _plain(value: Any) -> Any:
    """Return a copy of JSON that the program has built. Raise TypeError if something else is in it, such as a model."""
    return json.loads(json.dumps(value))


def _error_answer(method: str, error: Exception) -> errors.RequestError:
    """Return the error that answers a request whose handler has raised an exception."""
    if isinstance(error, RequestError):
        return errors.RequestError(error.code, str(error), error.data)
    if isinstance(error, ValidationError):
        faults = error.json(include_url=False, include_input=False)
        return errors.InvalidParams(data={"errors": json.loads(faults)})
    logging.error("Unhandled error while handling request method=%s", method, exc_info=error)
    return errors.InternalError("Internal error", _details(error))


def _details(error: Exception) -> Any:
    """Return the text of an exception, or the JSON in it."""
    try:
        return json.loads(str(error))
    except (ValueError, RecursionError):
        return {"details": str(error)}


def _elicitation_mode(mode: Any) -> str:
    if isinstance(mode, (acp.schema.ElicitationFormSessionMode, acp.schema.ElicitationFormRequestMode)):
        return "form"
    if isinstance(mode, (acp.schema.ElicitationUrlSessionMode, acp.schema.ElicitationUrlRequestMode)):
        return "url"
    raise TypeError(f"Unsupported elicitation mode: {type(mode).__name__}")


@add_calls(acp.core.AgentSideConnection, TO_CLIENT)
class AgentSideConnection(Connection):
    """The connection of an agent, which calls its client by the methods of `acp.Client`."""

    _side = AGENT_SIDE
    _build_router = staticmethod(build_agent_router)
    connector = Connector(AGENT_SIDE, AGENT_SIDE)

    async def create_elicitation(self, message: str, mode: Any, **kwargs: Any) -> Any:
        """Ask the user for input, by a form or at a URL."""
        kind = _elicitation_mode(mode)
        params = {"message": message, "mode": kind, **mode.model_dump(mode="json", by_alias=True, exclude_none=True)}
        if kwargs:
            params["_meta"] = kwargs
        response: TypeAdapter[Any] = TypeAdapter(acp.schema.CreateElicitationResponse)
        return response.validate_python(await self.send_request("elicitation/create", params))


@add_calls(acp.core.ClientSideConnection, TO_AGENT)
class ClientSideConnection(Connection):
    """The connection of a client, which calls its agent by the methods of `acp.Agent`."""

    _side = CLIENT_SIDE
    _build_router = staticmethod(build_client_router)
    connector = Connector(CLIENT_SIDE, CLIENT_SIDE)

    def __init__(
        self, to_client: Callable[[Any], Any] | Any, input_stream: Any, output_stream: Any = None, **options: Any
    ) -> None:
        super().__init__(to_client, input_stream, output_stream, **options)
