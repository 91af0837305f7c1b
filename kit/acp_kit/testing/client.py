"""A client that does what a script says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, TypeAlias

from acp_bindings import v1
from acp_kit.client import UpdateHandlers, find_session
from acp_kit.sequences import not_a_text
from acp_runtime import RequestError, ResourceNotFound

Permission: TypeAlias = "str | Callable[[v1.RequestPermissionRequest], Awaitable[str | None]] | None"


class ScriptedClient:
    """A client that plays a script, in as many sessions and connections as the test opens.

    It is a factory, so it can be passed to `v1.connect_in_process`, `v1.spawn_agent` and the like.

    Attributes:
        updates: all updates so far, of all sessions, in order.
        asked: the requests for permission so far.
        files: the text files, with what the agent has written.
        ran: the commands that the agent has run.
        capabilities: what it advertises.
    """

    def __init__(
        self,
        *,
        permissions: Iterable[Permission] = (),
        files: Mapping[str, str] | None = None,
        commands: Mapping[str, str | tuple[str, int]] | None = None,
        capabilities: v1.ClientCapabilities | None = None,
    ) -> None:
        """Make a client.

        Args:
            permissions: the answers to requests for permission, in order. Each is the kind or the id of an option, None
                to close the dialog, or an async function of the request that returns one of these, or raises. More
                requests are answered with an error.
            files: the text files, by path, absolute or relative to the session's working directory.
            commands: what is in a terminal at once, by the command with its arguments: the output, or the output and
                the exit code. No command is run.
            capabilities: what it advertises; by default files and terminals, if they are given. See `as_client`. All
                else that can be advertised is answered with -32601.

        Raises:
            TypeError: if `permissions` is a text.
        """
        fs = v1.FileSystemCapabilities(read_text_file=files is not None, write_text_file=files is not None)
        served = v1.ClientCapabilities(fs=fs, terminal=commands is not None)
        self.capabilities: v1.ClientCapabilities = capabilities or served
        self.files: dict[str, str] = dict(files or {})
        self.updates: list[v1.SessionUpdate] = []
        self.asked: list[v1.RequestPermissionRequest] = []
        self.ran: list[str] = []
        self._permissions = [*not_a_text("permissions", permissions)]
        self._commands = dict(commands or {})

    def __call__(self, agent: v1.RemoteAgent) -> v1.Client:
        """Make the client's side of a connection."""
        fs, terminal = self.capabilities.fs, self.capabilities.terminal
        served = {_Reading: fs.read_text_file, _Writing: fs.write_text_file, _Running: terminal, _Client: True}
        kind: Any = type("ScriptedClient", tuple(base for base, is_served in served.items() if is_served), {})
        client: v1.Client = kind(self, agent)
        return client

    @property
    def text(self) -> str:
        """What the agent has said."""
        said = [update.content for update in self.updates if isinstance(update, v1.SessionUpdateAgentMessageChunk)]
        return "".join(block.text for block in said if isinstance(block, v1.ContentBlockText))

    @property
    def where(self) -> str:
        """Where the script is, in words."""
        last = f", the last one {self.updates[-1].session_update}" if self.updates else ""
        asked = f"was asked {len(self.asked)} of {len(self._permissions)} times"
        return f"the client has got {len(self.updates)} updates{last}, and {asked}"

    def assert_done(self) -> None:
        """Check that the agent has asked as often as the script says.

        Raises:
            AssertionError: if it hasn't.
        """
        if len(self.asked) != len(self._permissions):
            raise AssertionError(f"The script isn't done: {self.where}.")

    async def permit(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        """Return the next answer of the script. The client calls this."""
        self.asked.append(request)
        number, title = len(self.asked), request.tool_call.title or request.tool_call.tool_call_id
        if number > len(self._permissions):
            raise RequestError(-32603, f"The script has {number - 1} answers, and this is question {number}: {title}")
        answer = self._permissions[number - 1]
        choice = await answer(request) if callable(answer) else answer
        if choice is None:
            return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())
        for option in request.options:
            if choice in (option.option_id, option.kind):
                outcome = v1.RequestPermissionOutcomeSelected(option_id=option.option_id)
                return v1.RequestPermissionResponse(outcome=outcome)
        offered = ", ".join(f"{option.option_id} ({option.kind})" for option in request.options)
        raise RequestError(-32603, f"The script answers question {number} with {choice}, but {title} offers {offered}")

    def run(self, request: v1.CreateTerminalRequest) -> tuple[str, int]:
        """Note a command, and return its output and exit code. The client calls this."""
        line = " ".join([request.command, *(request.args or [])])
        if line not in self._commands:
            raise ResourceNotFound(f"The script has no command {line!r}, only {[*self._commands]}")
        self.ran.append(line)
        result = self._commands[line]
        return (result, 0) if isinstance(result, str) else result


class _Client(UpdateHandlers, v1.Client):
    """One connection of a scripted client."""

    def __init__(self, script: ScriptedClient, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.script = script
        self.terminals: dict[str, tuple[str, int]] = {}

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.script.updates.append(notification.update)
        await super().session_update(notification)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return await self.script.permit(request)

    def name(self, request: v1.ReadTextFileRequest | v1.WriteTextFileRequest) -> str:
        """Return the name of a file in the script: relative to the session's working directory, or absolute."""
        path, session = PurePath(request.path), find_session(self.agent, request.session_id)
        if request.path in self.script.files or session is None or not path.is_relative_to(session.opening["cwd"]):
            return request.path
        return path.relative_to(session.opening["cwd"]).as_posix()


# A client has the handlers of what it advertises. The runtime answers for the others.
class _Reading(_Client):
    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        text = self.script.files.get(self.name(request))
        if text is None:
            raise ResourceNotFound(f"There is no file {request.path}")
        begin = (request.line or 1) - 1
        end = None if request.limit is None else begin + request.limit
        return v1.ReadTextFileResponse(content="".join(text.splitlines(keepends=True)[begin:end]))


class _Writing(_Client):
    async def fs_write_text_file(self, request: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        self.script.files[self.name(request)] = request.content
        return v1.WriteTextFileResponse()


class _Running(_Client):
    async def terminal_create(self, request: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        id = f"terminal-{len(self.script.ran) + 1}"
        self.terminals[id] = self.script.run(request)
        return v1.CreateTerminalResponse(terminal_id=id)

    async def terminal_output(self, request: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        output, code = self._find(request.terminal_id)
        exit_status = v1.TerminalExitStatus(exit_code=code)
        return v1.TerminalOutputResponse(output=output, truncated=False, exit_status=exit_status)

    async def terminal_wait_for_exit(self, request: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        return v1.WaitForTerminalExitResponse(exit_code=self._find(request.terminal_id)[1])

    async def terminal_kill(self, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        self._find(request.terminal_id)
        return v1.KillTerminalResponse()

    async def terminal_release(self, request: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        self._find(request.terminal_id)
        del self.terminals[request.terminal_id]
        return v1.ReleaseTerminalResponse()

    def _find(self, id: str) -> tuple[str, int]:
        if id not in self.terminals:
            raise ResourceNotFound(f"There is no terminal {id}")
        return self.terminals[id]
