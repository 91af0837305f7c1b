"""Handlers that only pass a message on: to a session, a `Workspace`, `Terminals` and so on.

    class MyClient(UpdateHandlers, FileHandlers, TerminalHandlers, PermissionHandlers, Client):
        def __init__(self, agent: RemoteAgent, terminals: Terminals) -> None:
            self.agent = agent
            self.workspace = Workspace("/path/to/project")
            self.terminals = terminals
            self.permissions = PermissionPolicy(ask=self.show_dialog)

    await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))

List these classes before `Client`. They are for `acp_bindings.v1`; type checkers refuse them for a client of another
profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_kit.client.open_sessions import UpdateHandlers, roots_of, sessions_of

if TYPE_CHECKING:
    from acp_bindings import v1
    from acp_kit.client.elicitations import Elicitations
    from acp_kit.client.permissions import PermissionPolicy
    from acp_kit.local.terminals import Terminals
    from acp_kit.local.workspace import Workspace


class FileHandlers:
    """Handles `fs/*` with `self.workspace`, which the subclass sets.

    If it also sets `self.agent` and uses `open_session`, each session gets only the files in its own folders.
    """

    workspace: Workspace

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        """Return the text of a file, or some lines of it."""
        return await self.workspace.fs_read_text_file(request, session_roots=_roots(self, request))

    async def fs_write_text_file(self, request: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        """Replace the text of a file, or create it."""
        return await self.workspace.fs_write_text_file(request, session_roots=_roots(self, request))


class TerminalHandlers:
    """Handles `terminal/*` with `self.terminals`, which the subclass sets.

    If it also sets `self.agent` and uses `open_session`, the commands of a session start in its own folders.
    """

    terminals: Terminals

    async def terminal_create(self, request: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        """Start a command, and return the id of its terminal."""
        return await self.terminals.terminal_create(request, session_roots=_roots(self, request))

    async def terminal_output(self, request: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        """Return the end of the output so far."""
        return await self.terminals.terminal_output(request)

    async def terminal_wait_for_exit(self, request: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        """Wait until the command has exited."""
        return await self.terminals.terminal_wait_for_exit(request)

    async def terminal_kill(self, request: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        """End the command, and keep its terminal."""
        return await self.terminals.terminal_kill(request)

    async def terminal_release(self, request: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        """End the command, and forget its terminal."""
        return await self.terminals.terminal_release(request)


class PermissionHandlers:
    """Handles `session/request_permission` with `self.permissions`, which the subclass sets."""

    permissions: PermissionPolicy

    async def session_request_permission(self, request: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        """Return the decision.

        If the class has `UpdateHandlers` and the session is open, the tool call is merged into its state, and the rules
        and the user get all its known fields.
        """
        agent: v1.RemoteAgent | None = getattr(self, "agent", None)
        if agent is not None and (session := sessions_of(agent).get(request.session_id)) is not None:
            known = session.state.update_tool_call(request.tool_call)
            request = request.model_copy(update={"tool_call": known})
        return await self.permissions.session_request_permission(request)


class ElicitationHandlers:
    """Handles `elicitation/*` with `self.elicitations`, which the subclass sets."""

    elicitations: Elicitations

    async def elicitation_create(self, request: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        """Return the user's answer to a form or a URL."""
        return await self.elicitations.elicitation_create(request)

    async def elicitation_complete(self, notification: v1.CompleteElicitationNotification, /) -> None:
        """Note that the user has finished at a URL."""
        await self.elicitations.elicitation_complete(notification)


def _roots(
    handler: object, request: v1.ReadTextFileRequest | v1.WriteTextFileRequest | v1.CreateTerminalRequest
) -> Sequence[str] | None:
    return roots_of(getattr(handler, "agent", None), request.session_id)


# What handlers use, which the subclass sets.
_ATTRIBUTES: Mapping[type, str] = {
    FileHandlers: "workspace",
    TerminalHandlers: "terminals",
    PermissionHandlers: "permissions",
    ElicitationHandlers: "elicitations",
}


def check_client(agent: v1.RemoteAgent) -> None:
    """Check that the client of an agent has set what its handlers use.

    Raises:
        TypeError: if it has not, or if `self.agent` of its `UpdateHandlers` is not this agent.
    """
    client: Any = agent.handler
    _check_attributes(client)
    if not _inherits_handlers(client, UpdateHandlers):
        return
    _check_attribute(client, UpdateHandlers, "agent")
    # Not whether it is the same object: it may be a weak proxy.
    if getattr(client.agent, "__dict__", None) is not vars(agent):
        raise TypeError(
            f"`self.agent` of this {type(client).__qualname__} is not the agent of the session, so it would not get "
            "the updates. Set it to the proxy that the factory gets, and create a client for each agent."
        )


def _check_attributes(client: object) -> None:
    for base, attribute in _ATTRIBUTES.items():
        if _inherits_handlers(client, base):
            _check_attribute(client, base, attribute)


def _inherits_handlers(client: object, base: type) -> bool:
    """Return whether the client has a handler of this base class that its own class doesn't override."""
    handlers = [(name, handler) for name, handler in vars(base).items() if not name.startswith("_")]
    return isinstance(client, base) and any(getattr(type(client), name, None) is handler for name, handler in handlers)


def _check_attribute(client: object, base: type, attribute: str) -> None:
    # A property isn't called, because it may create something.
    if not hasattr(type(client), attribute) and not hasattr(client, attribute):
        raise TypeError(
            f"{type(client).__qualname__} inherits {base.__name__}, so it must set `self.{attribute}`, "
            "for example in `__init__`."
        )


def client_capabilities(handler: v1.Client, *, meta: dict[str, Any] | None = None) -> v1.ClientCapabilities:
    """Return what to advertise in `initialize` for a client that inherits handler classes of the kit.

    These are the files that the workspace serves, terminals, and the elicitations that have callbacks. Add others with
    `acp_runtime.replace`.

    Args:
        handler: the client, such as `agent.handler` of the proxy.
        meta: capabilities of extensions, `_meta` on the wire.

    Raises:
        TypeError: if the client has not set what its handlers use, such as `self.workspace`.
    """
    from acp_bindings.v1 import ClientCapabilities
    from acp_runtime import ABSENT

    _check_attributes(handler)
    return ClientCapabilities(
        fs=handler.workspace.capabilities() if isinstance(handler, FileHandlers) else ABSENT,
        elicitation=handler.elicitations.capabilities() if isinstance(handler, ElicitationHandlers) else ABSENT,
        terminal=isinstance(handler, TerminalHandlers) or ABSENT,
        meta=ABSENT if meta is None else meta,
    )
