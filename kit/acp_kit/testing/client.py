"""A client that plays a script, and the capabilities of real editors."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from acp_bindings import v1
from acp_kit.client import TerminalHandlers, Terminals, UpdateHandlers, find_session
from acp_kit.common.sequences import check_sequence
from acp_kit.common.texts import join_texts
from acp_runtime import RequestError, ResourceNotFound

Permission: TypeAlias = "str | Callable[[v1.RequestPermissionRequest], Awaitable[str | None]] | None"

EDITORS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("editors.json").read_text("utf-8"))


def as_client(name: str) -> v1.ClientCapabilities:
    """Return the capabilities of an editor, for `ScriptedClient(capabilities=...)`. `EDITORS` has all, with versions.

    Raises:
        ValueError: if the editor is unknown. The message lists the known ones.
    """
    if name not in EDITORS:
        raise ValueError(f"{name!r} is not one of {', '.join(EDITORS)}. For others, build a ClientCapabilities.")
    return v1.ClientCapabilities.model_validate(EDITORS[name]["capabilities"])


class ScriptedClient:
    """A client that plays a script, in any number of sessions and connections.

    It is a factory, so it can be passed to `v1.connect_in_process`, `v1.spawn_agent` and similar functions.

    Attributes:
        permissions: the answers of the script.
        updates: all updates so far, of all sessions, in order.
        permission_requests: all permission requests so far, of all sessions, in order.
        files: the text files, including those that the agent has written.
        terminals: runs commands.
        capabilities: the capabilities to advertise.
    """

    def __init__(
        self,
        *,
        permissions: Iterable[Permission] = (),
        files: Mapping[str, str] | None = None,
        terminals: Terminals | None = None,
        capabilities: v1.ClientCapabilities | None = None,
    ) -> None:
        """Make a client.

        Args:
            permissions: the answers to permission requests, in order. Each is the kind or the id of an option, None to
                close the dialog, or an async function of the request that returns one of these or raises. Further
                requests are answered with an error.
            files: the text files by path, relative to the session's working directory, or absolute if they are
                elsewhere.
            terminals: runs commands on this machine, see `acp_kit.client.Terminals`.
            capabilities: the capabilities to advertise; by default files and terminals, if they are given. See
                `as_client`. Without `terminals`, requests for terminals are answered with -32601.

        Raises:
            TypeError: if `permissions` is a text.
        """
        fs = v1.FileSystemCapabilities(read_text_file=files is not None, write_text_file=files is not None)
        default_capabilities = v1.ClientCapabilities(fs=fs, terminal=terminals is not None)
        self.capabilities: v1.ClientCapabilities = capabilities or default_capabilities
        self.files: dict[str, str] = dict(files or {})
        self.terminals = terminals
        self.updates: list[v1.SessionUpdate] = []
        self.permission_requests: list[v1.RequestPermissionRequest] = []
        self.permissions: list[Permission] = [*check_sequence("permissions", permissions)]

    def __call__(self, agent: v1.RemoteAgent) -> v1.Client:
        """Make the client's side of a connection."""
        bases: list[type] = []
        if self.capabilities.fs.read_text_file:
            bases.append(_Reading)
        if self.capabilities.fs.write_text_file:
            bases.append(_Writing)
        if self.capabilities.terminal and self.terminals is not None:
            bases.append(TerminalHandlers)
        cls: Any = type("ScriptedClient", (*bases, _Client), {})
        client: v1.Client = cls(self, agent)
        return client

    @property
    def text(self) -> str:
        """The text of the agent's messages so far."""
        chunks = [update for update in self.updates if isinstance(update, v1.SessionUpdateAgentMessageChunk)]
        return join_texts(chunk.content.text for chunk in chunks if isinstance(chunk.content, v1.ContentBlockText))

    @property
    def where(self) -> str:
        """How far the script got, in words."""
        return f"the client was asked {len(self.permission_requests)} of {len(self.permissions)} times"

    def assert_done(self) -> None:
        """Check that the agent has asked as often as the script has answers.

        Raises:
            AssertionError: if it hasn't.
        """
        if len(self.permission_requests) != len(self.permissions):
            raise AssertionError(f"The script isn't done: {self.where}.")


class _Client(UpdateHandlers, v1.Client):
    """One connection of a scripted client."""

    def __init__(self, script: ScriptedClient, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.script = script
        self.terminals = script.terminals

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.script.updates.append(notification.update)
        await super().session_update(notification)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        script = self.script
        title = request.tool_call.title or request.tool_call.tool_call_id
        script.permission_requests.append(request)
        if (number := len(script.permission_requests)) > len(script.permissions):
            raise RequestError(-32603, f"The script has {number - 1} answers, and this is question {number}: {title}")
        answer = script.permissions[number - 1]
        choice = await answer(request) if callable(answer) else answer
        if choice is None:
            return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())
        for option in request.options:
            if choice in (option.option_id, option.kind):
                outcome = v1.RequestPermissionOutcomeSelected(option_id=option.option_id)
                return v1.RequestPermissionResponse(outcome=outcome)
        offered = ", ".join(f"{option.option_id} ({option.kind})" for option in request.options)
        raise RequestError(-32603, f"The script answers question {number} with {choice}, but {title} offers {offered}")

    def file_name(self, request: v1.ReadTextFileRequest | v1.WriteTextFileRequest) -> str:
        """Return the name of a file in the script."""
        path = PurePath(request.path)
        session = find_session(self.agent, request.session_id)
        if session is None or not path.is_relative_to(session.opening["cwd"]):
            return request.path
        return path.relative_to(session.opening["cwd"]).as_posix()


# A client has only the handlers of its capabilities. The runtime answers other requests.
class _Reading(_Client):
    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        text = self.script.files.get(self.file_name(request))
        if text is None:
            raise ResourceNotFound(f"There is no file {request.path}")
        begin = (request.line or 1) - 1
        end = None if request.limit is None else begin + request.limit
        return v1.ReadTextFileResponse(content="".join(text.splitlines(keepends=True)[begin:end]))


class _Writing(_Client):
    async def fs_write_text_file(self, request: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        self.script.files[self.file_name(request)] = request.content
        return v1.WriteTextFileResponse()
