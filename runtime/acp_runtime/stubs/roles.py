"""The bases of generated handlers and proxies, which are the same in all profiles."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Awaitable, Coroutine, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

from acp_runtime.errors import ConnectionClosed, InvalidParams, MethodNotFound
from acp_runtime.models.model import Model
from acp_runtime.stubs.extensions import Extension, ExtNotification, ExtRequest, find_handled
from acp_runtime.stubs.methods import AnyMethod, Notification, Request
from acp_runtime.stubs.params import build_params, find_method

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

P = TypeVar("P")
R = TypeVar("R")


@runtime_checkable
class CurrentRequest(Protocol):
    """A request whose handler runs.

    Attributes:
        done: whether its handler has finished.
        id: its id on the wire.
        wire: its method, such as `session/prompt`.
        session: the id of the session that it belongs to; None if it belongs to none.
        turn_cancelled: whether the client has cancelled the turn by `session/cancel`.
    """

    done: bool
    id: Any
    wire: str
    session: str | None
    turn_cancelled: bool


class PendingCall(NamedTuple):
    """A call of this side that the peer has not answered.

    Attributes:
        wire: its method, such as `authenticate`.
        params: its params.
        request: the request whose handler waits for it, of this connection or of another one, as in a gateway; None if
            there is none.
    """

    wire: str
    params: Any
    request: CurrentRequest | None


# The message whose handler runs, which the connection sets. `done` says whether the handler has ended, and `default` is
# the connection's own handling of a notification.
current: ContextVar[Any] = ContextVar("acp_runtime.current", default=None)


def current_request() -> CurrentRequest | None:
    """Return the request whose handler runs this code; None in other code, and after the handler has ended."""
    request = current.get()
    return request if isinstance(request, CurrentRequest) and not request.done else None


class Channel(Protocol):
    """The interface of a connection that a proxy uses.

    Attributes:
        loop: the event loop that the connection belongs to.
        state: has `peer_capabilities` and `peer_info`, which are None before `initialize` was answered.
        process: the peer's subprocess; None if this side started none.
    """

    loop: AbstractEventLoop
    state: Any
    process: ProcessInfo | None

    def request(self, method: Request[P, R], params: P) -> Awaitable[R]:
        """Return an awaitable that sends a request and waits for its result."""
        ...

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification. Waits while the peer doesn't read."""

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request for an extension method."""

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification of an extension method."""

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended, and return the reason."""
        ...

    def supports(self, method: AnyMethod) -> bool:
        """Return whether the peer has advertised what a method needs."""
        ...

    def has_cancelled_turn(self, session: str) -> bool:
        """Return whether this side has cancelled the newest turn of a session."""
        ...

    def find_call(self, id: Any) -> PendingCall | None:
        """Return the pending call with an id."""
        ...

    async def wait_handled(self, session: str) -> None:
        """Wait until all notifications of a session that have been received so far have been handled."""

    def start_task(self, coroutine: Coroutine[Any, Any, object]) -> Task[None]:
        """Start a task that is cancelled and awaited when the connection ends. Its error is logged."""
        ...

    @property
    def handler(self) -> Any:
        """The handler of this side's methods."""


@runtime_checkable
class ProcessInfo(Protocol):
    """A subprocess that this side started."""

    @property
    def command(self) -> str:
        """The program that was started."""
        ...

    @property
    def stderr_tail(self) -> str:
        """The end of what it has written to stderr so far, of the size that `Options.stderr_tail` allows."""
        ...

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal, 255 if it is unknown; None while it runs."""
        ...

    def kill(self) -> None:
        """Kill it and its descendants. The connection then ends as it does when an agent dies."""

    async def close_stdin(self) -> None:
        """Close its stdin after what is written already, so that it can end by itself. Nothing can be sent after it."""

    async def wait(self) -> int:
        """Wait until it has exited. Return its exit code."""
        ...


class Handler(ABC):  # noqa: B024 - its abstract methods are in the generated subclasses
    """Handles one side of a connection: it has a method for each method of the protocol that this side handles.

    Each method receives the request object, so that a field added upstream breaks no override.
    """

    # The tables of the schema's methods that a class handles, and the extension methods that it handles.
    # Without the names that only type checkers import, so that `typing.get_type_hints` works.
    _acp_schema: ClassVar[tuple[Any, ...]] = ()
    _acp_handled: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        tables: list[Any] = [table for base in cls.__mro__ for table in vars(base).get("_acp_schema", ())]
        schema = {method.name: method for table in tables for method in table.values()}
        cls._acp_handled = find_handled(cls, schema, vars(Handler))

    async def ext_request(self, method: str, params: Any) -> Any:
        """Answer a request for an extension method, whose name begins with an underscore.

        Raises:
            MethodNotFound: unless overridden.
        """
        raise MethodNotFound(method)

    async def ext_notification(self, method: str, params: Any) -> None:  # noqa: B027 - may be left alone
        """Handle a notification of an extension method, whose name begins with an underscore.

        Ignores it unless overridden.
        """

    async def invalid_notification(self, method: str, params: Any, error: InvalidParams) -> None:  # noqa: B027
        """Handle a notification with invalid params, such as an update of a kind that the schema doesn't know.

        It is called in order with the other notifications of the session. It does nothing unless overridden, because
        the connection has logged the notification already.

        Args:
            method: its name on the wire.
            params: the decoded JSON.
            error: its `data` has the paths of the invalid fields and a message for each.
        """

    async def _unhandled(self, method: Notification[P], params: P) -> None:
        """Handle a notification that isn't overridden as the connection does by default."""
        handled = current.get()
        if handled is not None and not handled.done:
            handled.default(method, params)


def explain_positional(error: BaseException) -> None:
    """Let the error of a proxy's method that was called with a positional argument say what to write instead."""
    text = str(error)
    if type(error) is TypeError and re.fullmatch(r"Remote\w+\.\w+\(\) takes 1 positional argument but .* given", text):
        error.args = (
            f"{text}: pass keywords. `request(...)` and `notify(...)` take a request or notification object.",
        )


class Remote:
    """Calls the peer: it has a method for each method of the protocol that the peer handles.

    Callers pass keywords. Leaving out an optional keyword is different from passing `None`. `request` and `notify` take
    a ready-made model instead.
    """

    requests: ClassVar[Mapping[str, Request[Any, Any]]]
    notifications: ClassVar[Mapping[str, Notification[Any]]]

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def ext_request(self, method: str, params: Any = None) -> Any:
        """Call an extension method. `method` is its name on the wire, with the leading underscore.

        Raises:
            GuardError: if the name has no leading underscore. Declare such a method with `unprefixed=True`.
        """
        return await self._channel.ext_request(method, params)

    async def ext_notification(self, method: str, params: Any = None) -> None:
        """Send a notification of an extension method. `method` is its name on the wire, with the leading underscore.

        Raises:
            GuardError: if the name has no leading underscore. Declare such a method with `unprefixed=True`.
        """
        await self._channel.ext_notification(method, params)

    async def call(self, extension: ExtRequest[P, R], params: P, /) -> R:
        """Call an extension method and wait for its result.

        Raises:
            CapabilityError: if the peer has not advertised the capability that the extension declares.
            TypeError: if the params have another type.
            ValueError: if the schema has a method with this name.
        """
        if not isinstance(cast("object", extension), ExtRequest):
            raise TypeError(f"`call` takes an ExtRequest, not {extension!r}. `ext_request` takes a name and JSON.")
        self._check_name(extension)
        return await self._channel.request(extension, params)

    def _check_name(self, extension: Extension) -> None:
        method = self.requests.get(extension.wire) or self.notifications.get(extension.wire)
        if method is not None:
            raise ValueError(f"{extension.wire!r} is a method of the schema. Call `{method.name}` instead.")

    @property
    def handler(self) -> Any:
        """The handler of this side of the connection. Raises RuntimeError while the factory is still making it."""
        return self._channel.handler

    @property
    def capabilities(self) -> Any:
        """The capabilities in the peer's `initialize` message; None before `initialize` was answered."""
        return self._channel.state.peer_capabilities

    @property
    def peer_info(self) -> Any:
        """The peer's name and version; None before `initialize` was answered, or if the peer didn't send them."""
        return self._channel.state.peer_info

    @property
    def process(self) -> ProcessInfo | None:
        """The peer's subprocess; None if this side started none."""
        return self._channel.process

    def supports(self, method: str | Extension) -> bool:
        """Return whether the peer has advertised the capability for a method, so that the guards allow a call.

        True for methods that every peer has or that need no capability. Before `initialize` was answered, False for all
        methods except `initialize` itself and extension methods that need no capability.

        Args:
            method: its name on the wire, such as `session/load`; or an extension method.

        Raises:
            ValueError: if the peer has no such method in this profile.
        """
        if not isinstance(method, str):
            if not isinstance(cast("object", method), (ExtRequest, ExtNotification)):
                raise TypeError(f"Expected an ExtRequest or an ExtNotification, not {method!r}.")
            return self._channel.supports(method)
        known = self.requests.get(method) or self.notifications.get(method)
        if known is None:
            names = ", ".join(sorted({**self.requests, **self.notifications}))
            raise ValueError(f"This peer has no method {method!r}. Pass a name on the wire, one of: {names}.")
        return self._channel.supports(known)

    def has_cancelled_turn(self, session_id: str) -> bool:
        """Return whether this side has cancelled the last turn of a session, whatever the peer has answered.

        This is known until the next turn begins, for the newest 4,096 sessions.
        """
        return self._channel.has_cancelled_turn(session_id)

    def find_call(self, request_id: str | int | None) -> PendingCall | None:
        """Return the pending call with an id; None if there is none.

        The peer names a call by its id, for example in a question to the user that belongs to a login.
        """
        return self._channel.find_call(request_id)

    async def wait_handled(self, session_id: str) -> None:
        """Wait until all notifications of a session that have been received so far have been handled.

        The handler of a request starts immediately, unless the request asks the user something. Call this in a handler
        that depends on earlier notifications. In the handler of a notification, it returns immediately, as calls do
        there.

        Raises:
            ConnectionClosed: if the connection ended before they were handled.
        """
        await self._channel.wait_handled(session_id)

    def start_task(self, coroutine: Coroutine[Any, Any, object]) -> Task[None]:
        """Start a task that may outlive the handler that starts it, such as a turn of version 2.

        It is cancelled when the connection ends, after the handlers, and the connection waits for it. Its exceptions
        are logged like those of a handler, and awaiting the task doesn't raise them. It inherits the caller's context
        variables.

        Raises:
            ConnectionClosed: if the connection has ended.
            RuntimeError: if it belongs to another event loop.
        """
        return self._channel.start_task(coroutine)

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended and all received messages have been handled.

        Returns:
            The reason; for a subprocess that ended first, also its exit code and the end of its stderr. If this side
            closed the connection, the subprocess was still running then: see `process`.
        """
        return await self._channel.wait_closed()

    @property
    def event_loop(self) -> AbstractEventLoop:
        """The event loop of the connection. The proxy's methods can be called only there."""
        return self._channel.loop

    # Plain functions that return the awaitable, which saves a coroutine frame for each message.
    def _call(self, method: Request[P, R], /, **keywords: Any) -> Awaitable[R]:
        return self._channel.request(method, build_params(method, keywords))

    def _notify(self, method: Notification[P], /, **keywords: Any) -> Awaitable[None]:
        return self._channel.notify(method, build_params(method, keywords))

    async def _request_with(self, request: Model) -> Any:
        return await self._channel.request(*find_method(request, self.requests))

    async def _notify_with(self, notification: Any, params: Any) -> None:
        if not isinstance(notification, ExtNotification):
            await self._channel.notify(*find_method(notification, self.notifications))
            return
        extension: ExtNotification[Any] = notification  # pyright: ignore[reportUnknownVariableType]
        self._check_name(extension)
        await self._channel.notify(extension, params)
