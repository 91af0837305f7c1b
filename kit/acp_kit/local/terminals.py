"""Serves the `terminal/*` methods: runs commands for the agent.

For example:

    class MyClient(Client):
        def __init__(self, terminals: Terminals) -> None:
            self.terminals = terminals

        async def terminal_create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
            return await self.terminals.terminal_create(request)

        ...  # and so on for terminal_output, terminal_wait_for_exit, terminal_kill and terminal_release

    async with Terminals("/path/to/project") as terminals:
        async with spawn_agent(lambda agent: MyClient(terminals), "some-agent") as agent:
            await agent.initialize(client_capabilities=ClientCapabilities(terminal=True), ...)
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shlex
import sys
from collections.abc import Collection, Iterable, Sequence
from errno import ENAMETOOLONG, ENOENT
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from acp_bindings import v1
from acp_kit.common.profiles import like
from acp_kit.common.sequences import check_sequence
from acp_kit.local.confined import ConfinedFiles
from acp_kit.local.confined.paths import check_text
from acp_kit.local.file_errors import answering_file_errors
from acp_kit.local.running_command import ExitStatus, RunningCommand
from acp_runtime import InternalError, InvalidParams, RequestError, ResourceNotFound
from acp_runtime.commands import InvalidCommand, environment
from acp_runtime.escaping import printable

if TYPE_CHECKING:
    from typing import Self

_logger = getLogger(__name__)
S = TypeVar("S", v1.TerminalExitStatus, v1.WaitForTerminalExitResponse)


class Terminals:
    """The commands that run for the agent. All sessions share it, but each can use only its own terminals.

    The stdin of a command is empty, and its output is a pipe, not a terminal of the system. Each command has a process
    group of its own, or on Windows a job, which ends with the command, and if this process is killed.

    Args:
        roots: absolute paths of existing folders. A command starts in the first one, or in a folder inside a root that
            the agent chooses. The command can still use files elsewhere. Without roots, it starts in this process's
            working folder, or in any folder that the agent chooses. For a known session, see `terminal_create`.
        inherit_env: the environment variables of this process that commands get, besides those of the request: all
            (True), the few that every program needs, such as PATH and HOME (False), or those with the given names.
        shell: whether all commands run in a shell (`/bin/sh`, or `%COMSPEC%` on Windows). By default, only a command
            without arguments that isn't a program and looks like a command line does, because some agents send these.
        max_output_bytes: how many bytes of a command's output to keep, even if the agent allows more.
        keep_released: how many released terminals keep their output for `output`.
        grace: the seconds between SIGTERM and SIGKILL when a command and its descendants are ended.

    Raises:
        ValueError: if a root is not an absolute path, or `keep_released` is negative.
        OSError: if a root is not an existing folder.
    """

    def __init__(
        self,
        *roots: str | os.PathLike[str],
        inherit_env: bool | Collection[str] = True,
        shell: bool = False,
        max_output_bytes: int = 1024 * 1024,
        keep_released: int = 100,
        grace: float = 0.5,
    ) -> None:
        environment(None, inherit_env)  # raises TypeError for a wrong type
        if keep_released < 0:
            raise ValueError(f"keep_released must be at least 0, not {keep_released}.")
        self._files = ConfinedFiles(*roots) if roots else None
        self._inherit_env = inherit_env
        self._shell = shell
        self._max_output_bytes = max_output_bytes
        self._keep_released = keep_released
        self._grace = grace
        self._commands: dict[str, tuple[str, RunningCommand]] = {}
        self._ending: dict[str, tuple[str, RunningCommand]] = {}
        self._released: dict[str, tuple[str, v1.TerminalOutputResponse]] = {}  # the oldest first
        self._is_closed = False
        self._has_logged_command_line = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End all commands and their descendants, and refuse new ones. If this is cancelled, they are killed."""
        self._is_closed = True
        # Also the commands that another task is releasing, so that none runs when this returns.
        await self._release(list(self._commands), also=[command for _, command in self._ending.values()])

    async def release_session(self, session_id: str) -> None:
        """End the commands of a session, for example when it was closed, and forget their terminals and outputs."""
        released_elsewhere = {id: command for id, (session, command) in self._ending.items() if session == session_id}
        running = [id for id, (session, _) in self._commands.items() if session == session_id]
        try:
            await self._release(running, also=released_elsewhere.values())
        finally:
            for id in released_elsewhere:
                self._ending.pop(id, None)
            for id in [id for id, (session, _) in self._released.items() if session == session_id]:
                del self._released[id]

    def output(self, terminal_id: str) -> v1.TerminalOutputResponse | None:
        """Return the end of a terminal's output, and the exit status if the command has exited, to show them.

        Tool calls still show a terminal after the agent has released it, so its output is kept, even after `aclose`. To
        show a running command, call this repeatedly.

        Returns:
            None if there is no such terminal, `keep_released` others were released later, or its session was released.
        """
        running = self._commands.get(terminal_id) or self._ending.get(terminal_id)
        if running is not None:
            _, command = running
            return _output(command)
        _, output = self._released.get(terminal_id, (None, None))
        return output

    async def terminal_create(
        self,
        request: v1.CreateTerminalRequest,
        *,
        session_roots: Sequence[str | os.PathLike[str]] | None = None,
    ) -> v1.CreateTerminalResponse:
        """Start a command, and return the id of its terminal.

        Args:
            request: the request.
            session_roots: the folders of its session: `ClientSession.roots`. The command starts in the first one by
                default. It can't start outside them, unless these terminals have no roots.

        Raises:
            ResourceNotFound: if the command or its working folder doesn't exist.
            InvalidParams: if the working folder is not absolute, not a folder or outside the roots, or if the command
                or a variable can't be passed to a process.
            InternalError: if the system refuses to start it, or `aclose` was called.
        """
        cwd = await asyncio.to_thread(self._folder, request.cwd, session_roots)
        # There is no await from here on, so that no cancellation can come between the start and the response.
        if self._is_closed:
            raise InternalError("No terminals can be created any more, because the client is closing.")
        try:
            command = self._start(request, cwd)
        except OSError as error:
            raise _refusal(error, request.command) from error
        terminal_id = f"terminal-{secrets.token_hex(8)}"
        self._commands[terminal_id] = (request.session_id, command)
        return like(request, v1.CreateTerminalResponse)(terminal_id=terminal_id)

    async def terminal_output(self, request: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        """Return the end of the output so far, and the exit status if the command has exited.

        Raises:
            ResourceNotFound: if there is no such terminal, or it was released.
            InvalidParams: if it belongs to another session.
        """
        command = self._command(request.session_id, request.terminal_id)
        await command.read_available()
        return _output(command, request)

    async def terminal_wait_for_exit(self, request: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        """Wait until the command has exited. Its own output is complete then; its descendants may add more.

        Raises:
            ResourceNotFound: if there is no such terminal, or it was released.
            InvalidParams: if it belongs to another session.
        """
        command = self._command(request.session_id, request.terminal_id)
        await command.wait()
        status = command.exit_status
        if status is None:
            raise InternalError(f"The system could not end process {command.pid}.")
        return _status(like(request, v1.WaitForTerminalExitResponse), status)

    async def terminal_kill(self, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """End the command and its descendants. The terminal keeps its output and exit status.

        Raises:
            ResourceNotFound: if there is no such terminal, or it was released.
            InvalidParams: if it belongs to another session.
        """
        await RunningCommand.end([self._command(request.session_id, request.terminal_id)], self._grace)
        return like(request, v1.KillTerminalResponse)()

    async def terminal_release(self, request: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """End the command and its descendants, and release the terminal. `output` still returns its output.

        Raises:
            ResourceNotFound: if there is no such terminal, or it was released.
            InvalidParams: if it belongs to another session.
        """
        self._command(request.session_id, request.terminal_id)
        await self._release([request.terminal_id])
        return like(request, v1.ReleaseTerminalResponse)()

    def _start(self, request: v1.CreateTerminalRequest, cwd: Path | None) -> RunningCommand:
        command = request.command
        args = tuple(request.args)
        if self._shell:
            command, args = in_shell(command, args)
        env = environment({variable.name: variable.value for variable in request.env}, self._inherit_env)
        limit = self._max_output_bytes
        if request.output_byte_limit is not None:
            limit = min(limit, request.output_byte_limit)
        try:
            return RunningCommand(command, args, cwd, env, limit)
        except OSError as error:
            if self._shell or not _is_command_line(error, request):
                raise
        command, args = in_shell(command, args)
        running = RunningCommand(command, args, cwd, env, limit)
        if not self._has_logged_command_line:
            self._has_logged_command_line = True
            _logger.info("The agent sends command lines, which run in a shell: %s", printable(request.command))
        return running

    async def _release(self, terminal_ids: Iterable[str], also: Iterable[RunningCommand] = ()) -> None:
        ending = {id: self._commands.pop(id) for id in terminal_ids}
        self._ending |= ending
        commands = [command for _, command in ending.values()]
        try:
            await RunningCommand.end([*commands, *also], self._grace)
        finally:
            for id, (session, command) in ending.items():
                command.close()
                if self._ending.pop(id, None) is not None:  # otherwise, its session was released meanwhile
                    self._released[id] = session, _output(command)
            for id in [*self._released][: -self._keep_released or None]:
                del self._released[id]

    def _command(self, session_id: str, terminal_id: str) -> RunningCommand:
        data = {"terminalId": terminal_id}
        if terminal_id not in self._commands:
            raise ResourceNotFound(f"There is no terminal {printable(terminal_id)!r}.", data)
        session, command = self._commands[terminal_id]
        if session != session_id:
            raise InvalidParams(f"The terminal {printable(terminal_id)!r} belongs to another session.", data)
        return command

    def _folder(self, cwd: str | None, session_roots: Sequence[str | os.PathLike[str]] | None) -> Path | None:
        """Return the working folder for a command."""
        files = self._files
        check_sequence("session_roots", session_roots)
        if cwd is None and session_roots:
            cwd = os.fspath(session_roots[0])
        if cwd is None:
            return files.roots[0] if files else None
        with answering_file_errors(cwd):
            if files is None:
                check_text(cwd)
            elif session_roots is not None:
                files = files.within(*session_roots)
            folder = files.resolve_folder(cwd) if files else Path(cwd)
            os.stat(folder)
        if not folder.is_dir():
            raise InvalidParams(f"{printable(cwd)!r} is not a folder.", {"path": cwd})
        return folder


def _is_command_line(error: OSError, request: v1.CreateTerminalRequest) -> bool:
    """Whether a command can't be started because it is a whole command line for a shell."""
    if request.args or error.errno not in (ENOENT, ENAMETOOLONG):
        return False
    return re.search(r"^~|[\s;&|<>$`'\"(]", request.command.strip()) is not None


def _refusal(error: OSError, command: str) -> RequestError:
    message = printable(f"{error.strerror}.", 1000)
    data = {"command": command}
    if isinstance(error, InvalidCommand) or not command:
        return InvalidParams(message, data)
    return ResourceNotFound(message, data) if error.errno == ENOENT else InternalError(message, data)


def _output(command: RunningCommand, request: v1.TerminalOutputRequest | None = None) -> v1.TerminalOutputResponse:
    cls = like(request, v1.TerminalOutputResponse)
    output = command.output
    status = command.exit_status
    if status is None:
        return cls(output=output.text, truncated=output.truncated)
    exit_status = _status(like(request, v1.TerminalExitStatus), status)
    return cls(output=output.text, truncated=output.truncated, exit_status=exit_status)


def _status(cls: type[S], status: ExitStatus) -> S:
    return cls(signal=status.signal) if status.exit_code is None else cls(exit_code=status.exit_code)


def in_shell(command: str, args: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the command that runs a command line in a shell. Arguments are quoted, the command itself is not."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        line = f"{command} {list2cmdline(args)}" if args else command
        return os.environ.get("COMSPEC", "cmd.exe"), ("/c", line)
    return "/bin/sh", ("-c", f"{command} {shlex.join(args)}" if args else command)
