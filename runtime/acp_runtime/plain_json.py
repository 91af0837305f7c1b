"""Sides of a connection whose params and results are plain JSON, for code that has models of its own.

The connection still acts on the tables of methods: what opens it, creates a session or cancels a turn. Capabilities are
not checked, so use these sides with `Options.guards` "off".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, RootModel

from acp_runtime.models.json_values import wire_name
from acp_runtime.stubs.methods import AnyMethod, Method, Notification, Request
from acp_runtime.stubs.roles import Handler, Remote
from acp_runtime.stubs.sides import Side

Serve: TypeAlias = Callable[[str, Any, bool], Awaitable[Any]]
"""Handles a message, given its method, its params and whether it is a notification. Returns the result."""

MethodT = TypeVar("MethodT", bound=Method)
_Requests: TypeAlias = dict[str, Request[Any, Any]]
_Notifications: TypeAlias = dict[str, Notification[Any]]

# The facts of a method that are copied: all but those for guards and for models.
_FACTS = ("profile", "wire", "name", "side", "opens", "creates", "cancelled", "ends")
# The connection reads a few attributes of every message.
_wire_name = cache(wire_name)


class Json(RootModel[Any]):
    """Plain JSON. The members of an object can be read as attributes, by their names in Python; None if missing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.root.get(_wire_name(name)) if self.root.__class__ is dict else None


# Not the model itself, for which null is read as an empty object.
_Result: TypeAlias = Annotated[Any, AfterValidator(Json)]
_TYPES: Mapping[str, Any] = {"params": "Json", "params_type": Json, "result": "Json", "result_type": _Result}


class JsonHandler(Handler):
    """A handler that passes all messages to one function.

    Args:
        serve: the function.
    """

    def __init__(self, serve: Serve) -> None:
        self.serve = serve

    async def ext_request(self, method: str, params: Any) -> Any:
        """Pass on a request for an extension method."""
        return await self.serve(method, params, False)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Pass on a notification of an extension method."""
        await self.serve(method, params, True)


class JsonRemote(Remote):
    """A proxy that sends plain JSON."""

    async def send_request(self, method: str, params: Any) -> Any:
        """Send a request, and return its result."""
        known = self.requests.get(method)
        if known is None:
            return await self.ext_request(method, params)
        result: Json = await self._channel.request(known, Json(params))
        return result.root

    async def send_notification(self, method: str, params: Any) -> None:
        """Send a notification."""
        known = self.notifications.get(method)
        if known is None:
            await self.ext_notification(method, params)
        else:
            await self._channel.notify(known, Json(params))


def make_handler(side: Side[JsonRemote], serve: Serve) -> Handler:
    """Return a handler for one of the sides that `plain_sides` returns."""
    return _handler_class(side)(serve)


def plain_sides(
    agent: Side[Any],
    client: Side[Any],
    agent_methods: Iterable[str] = (),
    client_methods: Iterable[str] = (),
) -> tuple[Side[JsonRemote], Side[JsonRemote]]:
    """Return the sides of an agent and of a client for plain JSON.

    Args:
        agent: the side of the agent in a profile.
        client: the side of the client in the profile.
        agent_methods: further methods that an agent handles, as requests and as notifications.
        client_methods: the same for a client.
    """
    own, peer = _tables(agent, agent_methods), _tables(client, client_methods)
    return _side(agent, own, peer), _side(client, peer, own)


def _side(
    side: Side[Any], own: tuple[_Requests, _Notifications], peer: tuple[_Requests, _Notifications]
) -> Side[JsonRemote]:
    remote = type("JsonRemote", (JsonRemote,), {"requests": peer[0], "notifications": peer[1]})
    return Side(side.role, side.profile, *own, remote, JsonHandler)


@cache
def _handler_class(side: Side[JsonRemote]) -> type[JsonHandler]:
    """Return a class that overrides all methods of a side, so that the connection leaves every decision to it."""
    methods: tuple[AnyMethod, ...] = (*side.requests.values(), *side.notifications.values())
    return type("JsonHandler", (JsonHandler,), {method.name: _pass_on(method) for method in methods})


def _tables(side: Side[Any], others: Iterable[str]) -> tuple[_Requests, _Notifications]:
    requests = {wire: _copy(method) for wire, method in side.requests.items()}
    notifications = {wire: _copy(method) for wire, method in side.notifications.items()}
    for wire in others:
        name = wire.replace("/", "_")
        facts: dict[str, Any] = {"profile": side.profile, "wire": wire, "side": side.role, **_TYPES}
        requests[wire] = Request(name=f"{name}_request", **facts)
        notifications[wire] = Notification(name=f"{name}_notification", **facts)
    return requests, notifications


def _copy(method: MethodT) -> MethodT:
    """Return a method for plain JSON. Those of the protocol itself, which the connection reads, stay."""
    if method.side == "protocol":
        return method
    facts: dict[str, Any] = {name: value for name, value in vars(method).items() if name in _FACTS}
    return type(method)(**facts, **_TYPES)


def _pass_on(method: AnyMethod) -> Callable[[JsonHandler, Any], Awaitable[Any]]:
    wire, is_notification = method.wire, isinstance(method, Notification)

    async def pass_on(handler: JsonHandler, params: Json) -> Any:
        return Json(await handler.serve(wire, params.root, is_notification))

    async def ignore(handler: JsonHandler, params: Any) -> None:
        """Do nothing: the connection has acted on it already."""

    return ignore if method.side == "protocol" else pass_on
