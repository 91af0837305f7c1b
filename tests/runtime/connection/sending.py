"""What a client receives when its agent sends something, or the error of the guard that stops it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, TypeAlias

from acp_bindings import v1
from acp_runtime import GuardError
from tests.support.runtime.any_profile import agent_of
from tests.support.runtime.peer import Link, serving

Send: TypeAlias = Callable[[Any], Awaitable[Any]]


async def messages_of(link: Link, send: Send, capabilities: Any = None, *, profile: Any = v1) -> list[Any]:
    """Let an agent send something to its client, which answers requests with an error. Return what arrives.

    Args:
        link: joins the two.
        send: sends something, with the proxy of the client.
        capabilities: what the client advertises.
        profile: the profile of both.

    Raises:
        GuardError: if a guard stops it. Nothing has arrived then.
    """
    errors: list[GuardError] = []
    messages: list[Any] = []

    class Sending(agent_of(profile)):  # type: ignore[misc]
        async def ext_request(self, method: str, params: Any, /) -> Any:
            try:
                await send(self.client)
            except GuardError as error:
                errors.append(error)

    version = profile.PROTOCOL_VERSION
    name = "clientCapabilities" if version == 1 else "capabilities"
    opening = {"protocolVersion": version, "info": {"name": "c", "version": "1"}, name: capabilities or {}}
    side = import_module(f"{profile.__name__}.connecting").AGENT_SIDE
    async with serving(link, Sending, ready=False, side=side) as peer:
        await peer.call("initialize", opening)
        await peer.send({"id": "send", "method": "_send"})
        while (message := await peer.receive()).get("id") != "send":
            messages.append(message)
            if "id" in message:
                await peer.send({"id": message["id"], "error": {"code": 1, "message": "no"}})
    if errors:
        assert messages == []
        raise errors[0]
    return messages


def sending_update(update: Any) -> Send:
    """Return a function that sends an update of a session."""
    return lambda client: client.session_update(session_id="s1", update=update)
