"""One turn of a session, as an agent sees it: from the prompt to its response."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload
from uuid import uuid4

from acp_bindings import v1
from acp_kit.agent.errors import TurnCancelled, is_only
from acp_kit.agent.tool_calls import Output, ToolCall
from acp_kit.common.profiles import convert, like
from acp_runtime import current_request

if TYPE_CHECKING:
    from pydantic import BaseModel

    from acp_kit.agent.elicitation import ElicitationAction, ElicitationResult
    from acp_kit.agent.session_base import SessionBase
    from acp_kit.agent.terminals import Terminal, TerminalResult

M = TypeVar("M", bound="BaseModel")


class Turn:
    """One turn. Use it as an async context manager, and return its `response` after the block.

    When the user cancels, the handler's task is cancelled as usual: the block is left with `CancelledError`, and the
    runtime answers `cancelled`. If the block suppresses the error, `response` still says `cancelled`. When the user
    closes a permission dialog without an answer, the block ends, and `response` says `cancelled`.

    Attributes:
        session: the session of the turn.
        stop_reason: why the turn ends. Set it to `max_tokens`, `max_turn_requests` or `refusal` where that applies.
        unfinished: the tool calls that `ToolCall.start` began and that have not ended. The end of the block ends them
            as failed.
    """

    def __init__(self, session: SessionBase, prompt: Sequence[v1.ContentBlock] = ()) -> None:
        self.session = session
        self.stop_reason: v1.StopReason = "end_turn"
        self.unfinished: list[ToolCall] = []
        self._prompt = prompt
        self._runs: set[asyncio.Task[TerminalResult]] = set()
        self._has_ended = False
        self._speaking: type[Any] | None = None
        self._message_id = ""
        self._text = like(session.client, v1.ContentBlockText)
        self._message = like(session.client, v1.SessionUpdateAgentMessageChunk)
        self._thought = like(session.client, v1.SessionUpdateAgentThoughtChunk)

    @property
    def response(self) -> v1.PromptResponse:
        """The response to the prompt."""
        return like(self.session.client, v1.PromptResponse)(stop_reason=self.stop_reason)

    @property
    def open_calls(self) -> Mapping[str, ToolCall]:
        """The tool calls of `unfinished` by the ids that were passed to `tool_call`, and by their own.

        If several have the same id, it is the first one, because results come in the order of the calls.
        """
        return {id: call for call in reversed(self.unfinished) for id in (call.given_id, call.id) if id is not None}

    async def __aenter__(self) -> Turn:
        chunk = like(self.session.client, v1.SessionUpdateUserMessageChunk)
        message_id = uuid4().hex
        for block in self._prompt:
            await self.session.record(chunk(content=block, message_id=message_id))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        request = current_request()
        if request is not None and request.turn_cancelled:
            self.stop_reason = "cancelled"  # even if the block has suppressed the error
        self._has_ended = True
        try:
            for command in self._runs:
                command.cancel()
            if self._runs:
                await asyncio.wait(self._runs)
        finally:
            await self._end_unfinished(error)
        if is_only(error, lambda raised: isinstance(raised, TurnCancelled)):
            self.stop_reason = "cancelled"
            return True
        return False

    async def _end_unfinished(self, error: BaseException | None) -> None:
        """End the tool calls that `ToolCall.start` began, even if ending one of them fails."""
        failure: BaseException | None = None
        for call in [*self.unfinished]:
            try:
                if error is None:
                    await call.end("Not finished", failed=True)
                else:
                    await call.__aexit__(type(error), error, None)
            except (Exception, asyncio.CancelledError) as raised:
                failure = raised
        if failure is not None:
            raise failure

    async def say(self, content: str | v1.ContentBlock, *, message_id: str | None = None) -> None:
        """Send a chunk of the agent's message.

        Args:
            content: text, or a block of content. Nothing is sent for an empty text, such as the empty deltas of models.
            message_id: the message that it belongs to, if the agent has ids of its own. Without it, chunks form one
                message until something else is sent.
        """
        await self._chunk(self._message, content, message_id)

    async def think(self, content: str | v1.ContentBlock, *, message_id: str | None = None) -> None:
        """Send a chunk of the agent's thoughts. The arguments are those of `say`."""
        await self._chunk(self._thought, content, message_id)

    async def plan(self, *entries: v1.PlanEntry) -> None:
        """Send the plan. It replaces the earlier one, so pass all entries each time."""
        client = self.session.client
        await self.send(like(client, v1.SessionUpdatePlan)(entries=[convert(client, entry) for entry in entries]))

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send any update. What the agent says afterwards is a new message.

        Raises:
            TurnCancelled: The turn was cancelled.
            RuntimeError: Its block was left.
        """
        self.check()
        self._speaking = None
        await self.session.send(convert(self.session.client, update))

    def check(self) -> None:
        """Raise if the turn is over. All methods that send something call this.

        Raises:
            TurnCancelled: The turn was cancelled.
            RuntimeError: Its block was left.
        """
        if self.stop_reason == "cancelled":
            raise TurnCancelled
        if self._has_ended:
            raise RuntimeError("The turn has ended. Use it inside of its block only.")

    def tool_call(
        self,
        title: str,
        *,
        kind: v1.ToolKind = "other",
        tool: str | None = None,
        locations: Sequence[str | Path | v1.ToolCallLocation] = (),
        raw_input: Any = None,
        content: Sequence[Output] = (),
        tool_call_id: str | None = None,
    ) -> ToolCall:
        """Report a tool call from its start to its end: `async with turn.tool_call(...) as call`.

        Args:
            title: what the user sees.
            kind: what the tool does, by which clients choose an icon.
            tool: the name of the tool. An answer for "always" is remembered for it; without it, for the title.
            locations: the files that it works on, absolute or relative to the session's working directory.
            raw_input: the arguments of the tool.
            content: what the user sees from the beginning, such as the diff that the tool call will make.
            tool_call_id: the id that the model gave it, by which `open_calls` finds it. Models use ids again, so this
                is `ToolCall.id` only if no other tool call of the session may have it. A session that was loaded or
                resumed may have any.
        """
        return ToolCall(self, title, kind, tool, locations, raw_input, content, tool_call_id)

    async def read_text_file(self, path: str | Path, *, line: int | None = None, limit: int | None = None) -> str:
        """Return the text of a file: through the client if it serves files, else from the disk.

        Arguments and errors are those of `SessionFiles.read`.
        """
        self.check()
        return await self.session.files.read(path, line=line, limit=limit)

    async def write_text_file(self, path: str | Path, content: str) -> None:
        """Write the text of a file: through the client if it serves files, else to the disk.

        The arguments and errors are those of `SessionFiles.write`.
        """
        self.check()
        await self.session.files.write(path, content)

    def terminal(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: dict[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> Terminal:
        """Run a command in a terminal of the client: `async with turn.terminal(...) as terminal`.

        Args:
            command: the program.
            *args: its arguments.
            cwd: its working directory, absolute or relative to the session's; without it, the session's.
            env: environment variables in addition to the client's own.
            output_byte_limit: how many bytes of output to keep, from the end.

        Raises:
            CapabilityError: when the block is entered, if the client has no terminals.
        """
        from acp_kit.agent.terminals import Terminal

        self.check()
        cwd = str(self.session.cwd / (cwd or ""))
        return Terminal(self.session.client, self.session.id, command, args, cwd, env or {}, output_byte_limit)

    async def run(
        self,
        command: str,
        *args: str,
        shell: bool = False,
        timeout: float | None = None,
        cwd: str | Path | None = None,
        env: dict[str, str] | None = None,
        output_byte_limit: int = 50_000,
        call: ToolCall | None = None,
    ) -> TerminalResult:
        """Run a command: in a terminal of the client if it offers terminals, otherwise as a process of the agent.

        Nothing is left running: the command and its descendants end with the call and with the turn. A process of the
        agent also ends if the agent is killed. Descendants that leave its process group, as with `setsid`, are not
        ended.

        Args:
            command: the program; with `shell`, a line of shell. Models write such lines.
            *args: its arguments. With `shell`, they are quoted.
            shell: whether it runs in a shell (`/bin/sh`, or `%COMSPEC%` on Windows).
            timeout: after how many seconds it is killed; without it, never.
            cwd: its working directory, absolute or relative to the session's; without it, the session's.
            env: environment variables in addition to those of the client or, as a process of the agent, the agent's.
            output_byte_limit: how many bytes of output to keep, from the end.
            call: the tool call that shows it: a terminal at once, the output of a process of the agent at its end.

        Raises:
            ResourceNotFound: if the program or its working directory doesn't exist.
            RequestError: if it can't be started for another reason.
            RuntimeError: if the turn has ended.
        """
        from acp_kit.agent.running import CommandRun

        self.check()
        cwd = str(self.session.cwd / (cwd or ""))
        wanted = CommandRun(command, args, cwd, env or {}, shell, timeout, output_byte_limit)
        running = asyncio.create_task(wanted.run(self.session, call))
        self._runs.add(running)
        running.add_done_callback(self._runs.discard)
        return await running

    @overload
    async def elicit(self, message: str, form: type[M], *, call: ToolCall | None = None) -> ElicitationResult[M]: ...
    @overload
    async def elicit(
        self, message: str, form: v1.ElicitationSchema | Mapping[str, Any], *, call: ToolCall | None = None
    ) -> ElicitationResult[dict[str, Any]]: ...
    async def elicit(self, message: str, form: Any, *, call: ToolCall | None = None) -> ElicitationResult[Any]:
        """Let the user fill in a form. The arguments and errors are those of `acp_kit.agent.elicit`.

        Args:
            message: what the user is asked for, and why.
            form: the fields.
            call: the tool call that needs it, if there is one.
        """
        from acp_kit.agent.elicitation import elicit

        self.check()
        client, id, call_id = self.session.client, self.session.id, call.id if call else None
        answer: ElicitationResult[Any] = await elicit(client, id, message, form, tool_call_id=call_id)
        return answer

    async def elicit_url(
        self, message: str, url: str, *, elicitation_id: str | None = None, call: ToolCall | None = None
    ) -> ElicitationAction:
        """Ask the user to open an address. The arguments and errors are those of `acp_kit.agent.elicit_url`.

        Args:
            message: what the user will do there, and why.
            url: the address.
            elicitation_id: its id, if you tell the client later that the user is done there.
            call: the tool call that needs it, if there is one.
        """
        from acp_kit.agent.elicitation import elicit_url

        self.check()
        ids = {"elicitation_id": elicitation_id, "tool_call_id": call.id if call else None}
        return await elicit_url(self.session.client, self.session.id, message, url, **ids)

    async def _chunk(self, kind: type[Any], content: str | v1.ContentBlock, message_id: str | None) -> None:
        self.check()
        if content == "":
            return
        if message_id is not None:
            self._speaking = None
        elif self._speaking is kind:
            message_id = self._message_id
        else:
            message_id = uuid4().hex
            self._speaking, self._message_id = kind, message_id
        block = self._text(text=content) if isinstance(content, str) else convert(self.session.client, content)
        await self.session.send(kind(content=block, message_id=message_id))
