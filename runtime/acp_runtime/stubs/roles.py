"""The bases of the generated stubs: what every handler and every proxy has, whatever the version of the protocol."""

from __future__ import annotations

from abc import ABC
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from acp_runtime.errors import ConnectionClosed, InvalidParams, MethodNotFound
from acp_runtime.models.model import Model
from acp_runtime.stubs.context import current
from acp_runtime.stubs.methods import AnyMethod, Notification, Request
from acp_runtime.stubs.params import build_params, ready_made

P = TypeVar("P")
R = TypeVar("R")


class Channel(Protocol):
    """What a proxy sends through: a connection, or anything that behaves like one."""

    async def request(self, method: Request[P, R], params: P) -> R:
        """Send a request and wait for its result."""
        ...

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification; returns when it is on its way."""
        ...

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know."""
        ...

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        ...

    async def wait_closed(self) -> ConnectionClosed:
        """Wait for the end of the connection. Gives the reason."""
        ...

    def supports(self, method: AnyMethod) -> bool:
        """Whether the peer has advertised what a method needs."""
        ...

    @property
    def handler(self) -> Any:
        """What handles this side's methods."""
        ...

    @property
    def peer_capabilities(self) -> Any:
        """What the peer advertised; None before `initialize` was answered."""
        ...

    @property
    def peer_info(self) -> Any:
        """What the peer is called; None before `initialize` was answered, or if it did not say."""
        ...

    @property
    def process(self) -> ProcessInfo | None:
        """The subprocess at the other end; None if there is none."""
        ...


class ProcessInfo(Protocol):
    """A subprocess that this side started."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        ...

    @property
    def where_to_look(self) -> str:
        """A sentence that says where its stderr is to be read."""
        ...


class Handler(ABC):  # noqa: B024 - its abstract methods are in the generated subclasses
    """One side of a connection: a method per method of the protocol that this side handles.

    Handlers receive the request object, so that a field added upstream breaks no override.
    """

    async def ext_request(self, method: str, params: Any) -> Any:
        """Answer a request that the schema doesn't know; its name begins with an underscore.

        Raises:
            MethodNotFound: unless overridden.
        """
        raise MethodNotFound(method)

    async def ext_notification(self, method: str, params: Any) -> None:  # noqa: B027 - may be left alone
        """Take a notification that the schema doesn't know; its name begins with an underscore.

        Ignored unless overridden.
        """

    async def invalid_notification(self, method: str, params: Any, error: InvalidParams) -> None:  # noqa: B027
        """Take a notification whose params are not valid, such as an update of a kind that the schema doesn't know.

        Called in the order of its session. Does nothing unless overridden: the connection has logged it already.

        Args:
            method: its name on the wire.
            params: the decoded JSON.
            error: what is wrong; its `data` has the paths of the fields and a message for each.
        """

    async def _unhandled(self, method: Notification[P], params: P) -> None:
        """What happens to a notification that no override takes: what the connection does by itself, or nothing."""
        handled = current.get()
        if handled is not None and not handled.done:
            handled.default(method, params)


class Remote:
    """The other side of a connection: a method per method of the protocol that can be called there.

    Callers pass keywords; leaving an optional one out and passing `None` are different things. A ready-made
    request object goes through `request` and `notify`.
    """

    requests: ClassVar[Mapping[str, Request[Any, Any]]]
    notifications: ClassVar[Mapping[str, Notification[Any]]]

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def ext_request(self, method: str, params: Any = None) -> Any:
        """Call a method that the schema doesn't know. `method` is its name on the wire, with the leading underscore."""
        return await self._channel.ext_request(method, params)

    async def ext_notification(self, method: str, params: Any = None) -> None:
        """Send a notification that the schema doesn't know, by its name on the wire, with the leading underscore."""
        await self._channel.ext_notification(method, params)

    @property
    def handler(self) -> Any:
        """What handles this side of the connection. Raises RuntimeError while the factory is still making it."""
        return self._channel.handler

    @property
    def capabilities(self) -> Any:
        """What the peer advertised in its `initialize` message; None before `initialize` was answered."""
        return self._channel.peer_capabilities

    @property
    def peer_info(self) -> Any:
        """The peer's name and version; None before `initialize` was answered, and if it did not say."""
        return self._channel.peer_info

    @property
    def process(self) -> ProcessInfo | None:
        """The subprocess that the peer runs in (`pid`, `returncode`); None if this side did not start one."""
        return self._channel.process

    def supports(self, method: str) -> bool:
        """Whether the peer has advertised what a method needs, so that no guard would stop a call of it.

        Always true of the methods that every peer has and of those that no capability unlocks. False before
        `initialize` was answered, but for `initialize` itself.

        Args:
            method: its name on the wire, such as `session/load`.

        Raises:
            ValueError: if the peer's side has no such method in this version of the protocol.
        """
        found = self.requests.get(method) or self.notifications.get(method)
        if found is None:
            raise ValueError(f"{method!r} is not a method that can be called on this peer.")
        return self._channel.supports(found)

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended and everything that was received has been handled.

        Returns:
            Why it ended; of a subprocess with its exit code and the end of its stderr.
        """
        return await self._channel.wait_closed()

    # Not coroutines themselves: every one of them costs each message some time.
    def _call(self, method: Request[P, R], /, **keywords: Any) -> Awaitable[R]:
        return self._channel.request(method, build_params(method, keywords))

    def _notify(self, method: Notification[P], /, **keywords: Any) -> Awaitable[None]:
        return self._channel.notify(method, build_params(method, keywords))

    async def _request_with(self, request: Model) -> Any:
        return await self._channel.request(*ready_made(request, self.requests))

    async def _notify_with(self, notification: Model) -> None:
        await self._channel.notify(*ready_made(notification, self.notifications))
