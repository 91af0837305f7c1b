"""One tool call, reported from its start to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from acp_bindings import v1
from acp_kit.agent.errors import Rejected, TurnCancelled, all_errors, reason_of
from acp_kit.agent.files import as_path
from acp_kit.agent.permissions import ask_with_lock
from acp_kit.common.profiles import convert, like
from acp_kit.common.sequences import check_sequence
from acp_kit.common.shielded_tasks import run_to_end
from acp_runtime import RequestError

if TYPE_CHECKING:
    from acp_kit.agent.session_base import SessionBase

Output: TypeAlias = str | v1.ContentBlock | v1.ToolCallContent


class _Turn(Protocol):
    """The turn that a tool call belongs to."""

    session: SessionBase
    stop_reason: v1.StopReason
    unfinished: list[ToolCall]

    def check(self) -> None: ...

    async def send(self, update: v1.SessionUpdate) -> None: ...


class ToolCall:
    """One tool call. Use it as an async context manager.

    The end of the block always ends it: as `completed`, or as `failed` with the reason if the block raises or is
    cancelled. The block suppresses `Rejected` of this tool call, and no other exception.

    Attributes:
        id: its id, on the wire and in the history. No other tool call of the session has it.
        given_id: the id that was passed to `Turn.tool_call`; None without one.
        rejected: whether the user rejected it.
    """

    def __init__(
        self,
        turn: _Turn,
        title: str,
        *,
        kind: v1.ToolKind,
        tool: str | None,
        locations: Sequence[str | Path | v1.ToolCallLocation],
        raw_input: Any,
        content: Sequence[Output],
        tool_call_id: str | None,
    ) -> None:
        self._turn = turn
        self._client = turn.session.client
        self._content: list[v1.ToolCallContent] = []
        self._result: dict[str, Any] = {}
        self._has_begun = False
        self._has_ended = False
        self.id: str = turn.session.new_tool_call_id(tool_call_id)
        self.given_id = tool_call_id
        self.rejected: bool = False
        self._fields = _without_none(
            title=title,
            kind=kind,
            locations=self._locations(locations) or None,
            raw_input=raw_input,
            name=tool,
        )
        self.output(*check_sequence("content", content))

    @property
    def title(self) -> str:
        """The title that the user sees."""
        title: str = self._fields["title"]
        return title

    async def start(self) -> ToolCall:
        """Start without a block, if the result arrives as an event. Then call `end`.

        Otherwise, the tool call fails at the end of the turn.
        """
        await self.__aenter__()
        self._turn.unfinished.append(self)
        return self

    async def end(self, *content: Output, raw: Any = None, failed: bool = False) -> None:
        """End a tool call that `start` began.

        Args:
            content: more output, as for `output`.
            raw: the result as the tool gave it, any JSON value.
            failed: whether the tool failed.

        Raises:
            RuntimeError: if the tool call has not begun, or has ended.
        """
        self._refuse_before_start()
        self.output(*content, raw=raw)
        await self._end("failed" if failed else "completed", **self._result)

    async def __aenter__(self) -> ToolCall:
        self._has_begun = True
        started = like(self._client, v1.SessionUpdateToolCall)
        try:
            await self._turn.send(started(tool_call_id=self.id, status="in_progress", **self._fields_and_content()))
        except asyncio.CancelledError as error:  # the start may have been sent
            self.output(reason_of(error))
            await self._end("failed", **self._fields)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            await self._end("completed", **self._result)
            return False
        self.output(reason_of(error))
        if all_errors(error, self._is_own_rejection):
            self.rejected = True
            await self._end("failed", **self._result)
            return True
        try:
            await self._end("failed")
        except Exception as failure:
            error.add_note(f"The end of the tool call {self.title!r} could not be reported: {failure}")
        return False

    async def ask(
        self, options: Sequence[v1.PermissionOption] | None = None, *, remember: str | bool = True
    ) -> str | None:
        """Ask the user whether the tool may run. "Always" is remembered for the tool in this session.

        For example:

            async with turn.tool_call("Delete the logs", kind="delete") as call:
                await call.ask()
                delete_logs()  # only if the user has allowed it
            if call.rejected:
                await turn.say("I have kept the logs.")

        Args:
            options: what the user can choose from; by default allow and reject, once and always.
            remember: what "always" applies to, such as one exact command; by default the `tool`, or else the title.
                With False, nothing is remembered.

        Returns:
            The id of the chosen option; None if the user answered "always" before.

        Raises:
            Rejected: if the user rejected it, or chose an option that was not offered. The block suppresses this.
            TurnCancelled: if the user cancelled the turn. The block of the turn suppresses this.
            RuntimeError: if the tool call has not begun, or has ended.
            ValueError: if two options have the same id.
        """
        self._refuse_before_start()
        session = self._turn.session
        tool = self._remembered_tool(remember)
        pending = like(self._client, v1.ToolCallUpdate)(
            tool_call_id=self.id, status="pending", **self._fields_and_content()
        )
        async with session.permissions.lock_for(tool):
            self._check()
            try:
                decision = await ask_with_lock(
                    self._client, session.id, pending, tool=tool, memory=session.permissions, options=options
                )
            except TurnCancelled:
                self._turn.stop_reason = "cancelled"
                raise
        if not decision.allowed:
            self.rejected = True
            raise Rejected(self.title, decision.option_id, self.id)
        self._check()
        if decision.option_id is not None:
            await self._send(status="in_progress")  # it was pending while the user was asked
        return decision.option_id

    def output(self, *content: Output, raw: Any = None) -> None:
        """Add output, which the user sees. It is sent when the tool call ends, or with the next `update`.

        Args:
            content: text, blocks of content, diffs, or `Terminal.content` of a command that the tool call runs.
            raw: the result as the tool gave it, any JSON value.

        Raises:
            RuntimeError: if the tool call has ended.
        """
        self._refuse_after_end()
        self._content += [self._content_of(part) for part in content]
        if raw is not None:
            self._result["raw_output"] = raw

    def diff(self, path: str | Path, *, old: str | None, new: str) -> None:
        """Add a change of a file to the output.

        Args:
            path: the file, absolute or relative to the session's working directory.
            old: its content before; None for a new file.
            new: its content after.
        """
        self.output(like(self._client, v1.ToolCallContentDiff)(path=self._absolute(path), old_text=old, new_text=new))

    async def change(self, path: str | Path, new: str) -> None:
        """Add the change that the tool call will make to a file. Call this before `ask`, and before writing the file.

        The old text comes from the client or, if that fails, from the disk. If neither can read an existing file, the
        reason is added instead of the change, so that you can still ask the user.

        Args:
            path: the file, absolute or relative to the session's working directory. It need not exist.
            new: its content after.

        Raises:
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if the tool call has ended.
            OSError: if the client serves no files, and a root of the session is not an existing folder.
        """
        self._check()
        try:
            old = await self._turn.session.files.read_before_change(path)
        except RequestError as error:
            self.output(f"The change can't be shown: {error}")
        else:
            self.diff(path, old=old, new=new)

    async def update(
        self,
        *,
        title: str | None = None,
        kind: v1.ToolKind | None = None,
        locations: Sequence[str | Path | v1.ToolCallLocation] | None = None,
        raw_input: Any = None,
    ) -> None:
        """Send the output so far and the given fields now. The arguments are those of `Turn.tool_call`.

        Each update has all of the output, because it replaces the content of the tool call. If a long output grows,
        update it rarely, or run the command with `Turn.run`: a terminal of the client needs no updates.

        Raises:
            TurnCancelled: if the turn was cancelled.
            RuntimeError: if the tool call has not begun, or has ended.
        """
        self._refuse_before_start()
        self._check()
        changes = _without_none(
            title=title,
            kind=kind,
            locations=None if locations is None else self._locations(locations),
            raw_input=raw_input,
        )
        self._fields |= changes
        await self._send(status="in_progress", **changes)

    def _fields_and_content(self) -> dict[str, Any]:
        return {**self._fields, "content": [*self._content]} if self._content else self._fields

    def _check(self) -> None:
        self._refuse_after_end()
        self._turn.check()

    def _refuse_before_start(self) -> None:
        if not self._has_begun:
            raise RuntimeError(
                f"The tool call {self.title!r} has not begun. Use it in a block, "
                "`async with turn.tool_call(...) as call`, or await its `start()` first."
            )

    def _refuse_after_end(self) -> None:
        if self._has_ended:
            raise RuntimeError(f"The tool call {self.title!r} has ended. Use it inside its block only.")

    def _is_own_rejection(self, error: BaseException) -> bool:
        return isinstance(error, Rejected) and error.tool_call_id in (None, self.id, self.given_id)

    def _remembered_tool(self, remember: str | bool) -> str | None:
        if isinstance(remember, str):
            return remember
        return (self._fields.get("name") or self.title) if remember else None

    async def _end(self, status: v1.ToolCallStatus, **fields: Any) -> None:
        """Record and send the end, also in a cancelled turn. Cancelling this waits until that is done."""
        self._has_ended = True
        self._turn.unfinished[:] = [call for call in self._turn.unfinished if call is not self]
        await run_to_end(self._send_end(self._update(status=status, **fields)))

    async def _send_end(self, update: v1.SessionUpdate) -> None:
        session = self._turn.session
        try:
            await session.send(update)
        except Exception as error:  # the history failed, or the output can't be sent
            self._content = [self._content_of(reason_of(error))]
            with suppress(Exception):
                await self._client.session_update(session_id=session.id, update=self._update(status="failed"))
            raise

    async def _send(self, **fields: Any) -> None:
        await self._turn.session.send(self._update(**fields))

    def _update(self, **fields: Any) -> v1.SessionUpdate:
        if self._content:
            fields["content"] = [*self._content]
        return like(self._client, v1.SessionUpdateToolCallUpdate)(tool_call_id=self.id, **fields)

    def _locations(self, locations: Sequence[str | Path | v1.ToolCallLocation]) -> list[v1.ToolCallLocation]:
        check_sequence("locations", locations)
        location = like(self._client, v1.ToolCallLocation)
        return [
            location(path=self._absolute(place)) if isinstance(place, (str, Path)) else convert(self._client, place)
            for place in locations
        ]

    def _absolute(self, path: str | Path) -> str:
        return str(self._turn.session.cwd / as_path(path))

    def _content_of(self, content: Output) -> v1.ToolCallContent:
        if isinstance(content, str):
            content = like(self._client, v1.ContentBlockText)(text=content)
        else:
            content = convert(self._client, content)
        # Type checkers follow single comparisons only.
        if content.type == "content" or content.type == "diff" or content.type == "terminal":  # noqa: PLR1714
            return content
        return like(self._client, v1.ToolCallContentContent)(content=content)


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
