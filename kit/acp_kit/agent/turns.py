"""One turn of an agent, from the prompt to the response."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload
from uuid import uuid4

from acp_bindings import v1
from acp_kit.agent.errors import TurnCancelled, all_errors
from acp_kit.agent.tool_calls import Output, ToolCall
from acp_kit.common.profiles import convert, like
from acp_runtime import ABSENT, current_request

if TYPE_CHECKING:
    from pydantic import BaseModel
    from typing_extensions import TypeVar as TypeVarWithDefault

    from acp_bindings import v1_unstable
    from acp_kit.agent.elicitation import ElicitationAction, ElicitationResult
    from acp_kit.agent.session_base import SessionBase
    from acp_kit.agent.terminals import Terminal, TerminalResult

    ResponseT = TypeVarWithDefault("ResponseT", default=v1.PromptResponse)
else:
    ResponseT = TypeVar("ResponseT")

M = TypeVar("M", bound="BaseModel")


class Turn(Generic[ResponseT]):
    """One turn. Use it as an async context manager, and return its `response` after the block.

    When the user cancels the turn, the runtime cancels the handler's task, so the block is left with `CancelledError`,
    and answers `cancelled`. If the block suppresses the error, `response` also says `cancelled`. When the user closes
    a permission dialog without an answer, the block ends, and `response` says `cancelled`.

    Type checkers know the class of the `response` from the prompt. It is `v1.PromptResponse` unless the prompt is of
    another profile.

    Attributes:
        session: the session of the turn.
        stop_reason: why the turn ends. Set it to `max_tokens`, `max_turn_requests` or `refusal` where that applies.
        meta: the `_meta` of the response; None for none.
        usage: the tokens that the turn has used; None if unknown. The stable version 1 has no field for it, but many
            agents send it.
        unfinished: the tool calls that `ToolCall.start` started and that have not ended. They fail at the end of the
            block.
    """

    def __init__(self, session: SessionBase, prompt: Sequence[v1.ContentBlock] = ()) -> None:
        self.session = session
        self.stop_reason: v1.StopReason = "end_turn"
        self.meta: dict[str, Any] | None = None
        self.usage: v1_unstable.Usage | None = None
        self.unfinished: list[ToolCall] = []
        self._prompt = prompt
        self._commands: set[asyncio.Task[TerminalResult]] = set()
        self._has_ended = False
        # The class of the last chunk and the id of its message; None if another chunk begins a new message.
        self._open_message: tuple[type[Any], str] | None = None
        self._text_class = like(session.client, v1.ContentBlockText)
        self._message_class = like(session.client, v1.SessionUpdateAgentMessageChunk)
        self._thought_class = like(session.client, v1.SessionUpdateAgentThoughtChunk)

    @property
    def response(self) -> ResponseT:
        """The response to the prompt."""
        cls = like(self.session.client, v1.PromptResponse)
        response = cls(stop_reason=self.stop_reason, meta=ABSENT if self.meta is None else self.meta)
        if self.usage is not None:
            response = cls.model_validate({**response.model_dump(), "usage": self.usage.model_dump()})
        return cast("ResponseT", response)

    @property
    def open_calls(self) -> Mapping[str, ToolCall]:
        """The unfinished tool calls by their own ids and by the ids that were passed to `tool_call`.

        If several have the same id, this is the first one, because results come in the order of the calls.
        """
        return {id: call for call in reversed(self.unfinished) for id in (call.given_id, call.id) if id is not None}

    async def __aenter__(self) -> Self:
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
            for command in self._commands:
                command.cancel()
            if self._commands:
                await asyncio.wait(self._commands)
        finally:
            await self._end_unfinished(error)
        if all_errors(error, lambda raised: isinstance(raised, TurnCancelled)):
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

    async def say(
        self, content: str | v1.ContentBlock | v1_unstable.ContentBlock, *, message_id: str | None = None
    ) -> None:
        """Send a chunk of the agent's message.

        Args:
            content: text, or a block of content. An empty text, such as the empty deltas of models, is not sent.
            message_id: the id of its message, if the agent has ids of its own. By default, chunks form one message
                until something else is sent.

        Raises:
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if its block was left.
        """
        await self._send_chunk(self._message_class, content, message_id)

    async def think(
        self, content: str | v1.ContentBlock | v1_unstable.ContentBlock, *, message_id: str | None = None
    ) -> None:
        """Send a chunk of the agent's thoughts. The arguments and errors are those of `say`."""
        await self._send_chunk(self._thought_class, content, message_id)

    async def plan(self, *entries: v1.PlanEntry) -> None:
        """Send the plan. It replaces the earlier one, so pass all entries each time."""
        client = self.session.client
        await self.send(like(client, v1.SessionUpdatePlan)(entries=[convert(client, entry) for entry in entries]))

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send any update. The next chunk begins a new message.

        Raises:
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if its block was left.
        """
        self.check()
        self._open_message = None
        await self.session.send(convert(self.session.client, update))

    def check(self) -> None:
        """Raise if the turn is over. All methods that send something call this.

        Raises:
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if its block was left.
        """
        if self.stop_reason == "cancelled":
            raise TurnCancelled
        if self._has_ended:
            raise RuntimeError("The turn has ended. Use it inside its block only.")

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
        """Report a tool call from its start to its end.

        For example:

            async with turn.tool_call("Read notes.txt", kind="read", locations=["notes.txt"]) as call:
                call.output(await turn.read_text_file("notes.txt"))

        Args:
            title: what the user sees.
            kind: what the tool does. Clients choose an icon by it.
            tool: the name of the tool, for which "always" is remembered; by default, it is remembered for the title.
            locations: the files that it works on, absolute or relative to the session's working directory.
            raw_input: the arguments of the tool.
            content: output to show from the beginning, such as the diff that the tool call will make.
            tool_call_id: the model's id, by which `open_calls` finds the tool call. Models reuse ids, so `ToolCall.id`
                differs if an earlier tool call of the session may have this id, and always in a loaded or resumed
                session.
        """
        return ToolCall(
            self,
            title,
            kind=kind,
            tool=tool,
            locations=locations,
            raw_input=raw_input,
            content=content,
            tool_call_id=tool_call_id,
        )

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
            cwd: its working directory, absolute or relative to the session's; by default the session's.
            env: environment variables in addition to the client's own.
            output_byte_limit: how many bytes of output to keep, from the end.

        Raises:
            CapabilityError: when the block is entered, if the client has no terminals.
        """
        from acp_kit.agent.terminals import Terminal

        self.check()
        return Terminal(
            self.session.client,
            self.session.id,
            command,
            args,
            cwd=str(self.session.cwd / (cwd or "")),
            env=env or {},
            output_byte_limit=output_byte_limit,
        )

    async def run(
        self,
        command: str,
        *args: str,
        shell: bool = False,
        timeout: float | None = None,
        cwd: str | Path | None = None,
        env: dict[str, str] | None = None,
        inherit_env: bool | Collection[str] = True,
        output_byte_limit: int = 50_000,
        call: ToolCall | None = None,
    ) -> TerminalResult:
        """Run a command: in a terminal of the client if it offers terminals, otherwise as a process of the agent.

        The command and its descendants end with this call, and with the turn. A process of the agent also ends if the
        agent is killed. Descendants that leave its process group, as with `setsid`, are not ended.

        Args:
            command: the program; with `shell`, a command line, such as models write.
            *args: its arguments. With `shell`, they are quoted.
            shell: whether to run it in a shell (`/bin/sh`, or `%COMSPEC%` on Windows).
            timeout: after how many seconds to kill it; None for no limit.
            cwd: its working directory, absolute or relative to the session's; by default the session's.
            env: environment variables in addition to the inherited ones. A command in a terminal of the client inherits
                the client's.
            inherit_env: the agent's environment variables that a process of the agent inherits: all (True), the few
                that every program needs, such as PATH and HOME (False), or those with the given names.
            output_byte_limit: how many bytes of output to keep, from the end.
            call: the tool call that shows the output: live for a terminal, at the end for a process of the agent.

        Raises:
            ResourceNotFound: if the program or its working directory doesn't exist.
            RequestError: if it can't be started for another reason.
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if the turn has ended.
        """
        from acp_kit.agent.running import CommandRun

        self.check()
        run = CommandRun(
            command=command,
            args=args,
            cwd=str(self.session.cwd / (cwd or "")),
            env=env or {},
            inherit_env=inherit_env,
            shell=shell,
            timeout=timeout,
            output_byte_limit=output_byte_limit,
        )
        task = asyncio.create_task(run.run(self.session, call))
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return await task

    @overload
    async def elicit(self, message: str, form: type[M], *, call: ToolCall | None = None) -> ElicitationResult[M]: ...
    @overload
    async def elicit(
        self, message: str, form: v1.ElicitationSchema | Mapping[str, Any], *, call: ToolCall | None = None
    ) -> ElicitationResult[dict[str, Any]]: ...
    async def elicit(self, message: str, form: Any, *, call: ToolCall | None = None) -> ElicitationResult[Any]:
        """Let the user fill in a form. The arguments and errors are those of `acp_kit.agent.elicit`.

        Args:
            message: what the user should enter, and why.
            form: the fields.
            call: the tool call that needs the values, if there is one.
        """
        from acp_kit.agent.elicitation import elicit

        self.check()
        result: ElicitationResult[Any] = await elicit(
            self.session.client, self.session.id, message, form, tool_call_id=call.id if call else None
        )
        return result

    async def elicit_url(
        self, message: str, url: str, *, elicitation_id: str | None = None, call: ToolCall | None = None
    ) -> ElicitationAction:
        """Ask the user to open a URL. The arguments and errors are those of `acp_kit.agent.elicit_url`.

        Args:
            message: what the user will do there, and why.
            url: the URL.
            elicitation_id: its id, if you will tell the client that the user has finished there.
            call: the tool call that needs this, if there is one.
        """
        from acp_kit.agent.elicitation import elicit_url

        self.check()
        return await elicit_url(
            self.session.client,
            self.session.id,
            message,
            url,
            elicitation_id=elicitation_id,
            tool_call_id=call.id if call else None,
        )

    async def _send_chunk(self, chunk_class: type[Any], content: Any, message_id: str | None) -> None:
        self.check()
        if content == "":
            return
        if message_id is not None:
            self._open_message = None
        elif self._open_message is not None and self._open_message[0] is chunk_class:
            message_id = self._open_message[1]
        else:
            message_id = uuid4().hex
            self._open_message = (chunk_class, message_id)
        block = self._text_class(text=content) if isinstance(content, str) else convert(self.session.client, content)
        await self.session.send(chunk_class(content=block, message_id=message_id))
