"""The state of a session, which its updates change."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal
from weakref import ref

from acp_kit.client.snapshots import Entry, Snapshot
from acp_kit.common.profiles import like
from acp_kit.updates.fields import given_fields, values_of
from acp_kit.updates.messages import Message
from acp_kit.updates.table import TABLE, tag_of
from acp_kit.updates.timeline import Timeline, Update

if TYPE_CHECKING:
    from acp_bindings import v1


class _ToolCalls(Mapping[str, Any]):
    """The tool calls by id at one moment. While somebody uses it, the state changes a copy of the dict instead."""

    def __init__(self, calls: Mapping[str, Any]) -> None:
        self._calls = calls

    def __getitem__(self, tool_call_id: str) -> Any:
        return self._calls[tool_call_id]

    def __iter__(self) -> Iterator[str]:
        yield from self._calls  # a generator, which keeps `self` alive until its end

    def __len__(self) -> int:
        return len(self._calls)

    def __repr__(self) -> str:
        return repr(self._calls)


class SessionState:
    """A session as its updates describe it. Call `apply` with each update; read it here, or take a `snapshot`.

    For example:

        async def session_update(self, notification: SessionNotification) -> None:
            self.states[notification.session_id].apply(notification.update)

    Applying an update takes time proportional to the size of the update, however long the session is. The attributes
    are those of a `Snapshot` of the current state.

    A start with the id of a running tool call updates it. Models and agents reuse ids, so a start with the id of a
    finished tool call, or of one from an earlier turn, is a new tool call, and later updates with this id change the
    new one.
    """

    def __init__(self) -> None:
        self._timeline = Timeline()
        self._available_modes: tuple[v1.SessionMode, ...] = ()
        self._snapshot: Snapshot | None = None
        self._tool_calls: ref[_ToolCalls] | None = None

    def apply(self, update: Update) -> None:
        """Merge an update into the state.

        To show the user's prompts, apply a `user_message_chunk` for each of their blocks. Few agents send them.
        """
        was_read = self._snapshot is not None or self._tool_calls is not None
        if was_read and tag_of(update) in TABLE:
            self._before_change()
        self._timeline.apply(update)

    def update_tool_call(self, update: v1.ToolCallUpdate) -> v1.ToolCallUpdate:
        """Merge the tool call of a permission request, as `PermissionHandlers` does. It may arrive before the start.

        Returns:
            The tool call with all known fields. Many agents send only its id with the request.
        """
        self.apply(update)
        known = given_fields(self.tool_calls[update.tool_call_id]).items()
        fields = type(update).model_fields
        return update.model_copy(update={name: value for name, value in known if name in fields and value != ""})

    def apply_response(
        self, response: v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse
    ) -> None:
        """Apply the modes and options of the response that created, loaded or resumed the session."""
        from acp_bindings import v1

        if response.modes is not None:
            self._available_modes = tuple(response.modes.available_modes)
            mode = like(response, v1.SessionUpdateCurrentModeUpdate)
            self.apply(mode(current_mode_id=response.modes.current_mode_id))
        if response.config_options is not None:
            options = like(response, v1.SessionUpdateConfigOptionUpdate)
            self.apply(options(config_options=response.config_options))

    @contextmanager
    def replayed(self) -> Generator[None]:
        """Merge the history that the agent sends again during the block:

            with state.replayed():
                await agent.session_load(session_id=id, cwd=cwd, mcp_servers=[])

        Entries that the state already has are not added again, and entries that the agent doesn't send are kept. During
        the block, the state has only what the agent has sent so far. If the block raises, the state is as before.
        """
        self._before_change()
        kept, self._timeline = self._timeline, Timeline()
        try:
            yield
            kept.take_replay(self._timeline)
        finally:
            self._before_change()
            self._timeline = kept

    def end_message(self) -> None:
        """Make the next chunk start a new message, even if it has the role and id of the last one.

        Call this at the end of a turn: otherwise, adjacent messages of two turns are merged if they have no ids.
        Unfinished tool calls count as stopped. Tool calls that only permission requests have named are removed, because
        some agents use a different id in the request.
        """
        self._before_change()
        self._timeline.end_turn()
        self._timeline.drop_unreported_calls()

    def stop_calls(self) -> None:
        """Mark unfinished tool calls as stopped, because the turn was cancelled: see `status_of`.

        Later updates still change them.
        """
        if self._timeline.running_calls:
            self._before_change()
            self._timeline.running_calls.clear()

    def snapshot(self) -> Snapshot:
        """Return the current state. It is immutable, and the same object until the next change."""
        if self._snapshot is None:
            timeline = self._timeline
            timeline.refresh()
            self._snapshot = Snapshot(
                timeline=tuple(timeline.entries.values()),
                tool_calls=self.tool_calls,
                running_calls=self._timeline.running_calls.copy(),
                notices=tuple(timeline.notices),
                available_modes=self._available_modes,
                **values_of(TABLE, timeline.settings),
            )
        return self._snapshot

    @property
    def timeline(self) -> Sequence[Entry]:
        """See `Snapshot`."""
        return self.snapshot().timeline

    @property
    def messages(self) -> Sequence[Message]:
        """See `Snapshot`."""
        return self.snapshot().messages

    @property
    def text(self) -> str:
        """See `Snapshot`."""
        return self.snapshot().text

    @property
    def tool_calls(self) -> Mapping[str, v1.ToolCall]:
        """See `Snapshot`."""
        calls = None if self._tool_calls is None else self._tool_calls()
        if calls is None:
            calls = _ToolCalls(self._timeline.tool_calls)
            self._tool_calls = ref(calls)
        return calls

    @property
    def running_calls(self) -> Mapping[str, v1.ToolCall]:
        """See `Snapshot`."""
        return self.snapshot().running_calls

    def status_of(self, call: v1.ToolCall) -> v1.ToolCallStatus | Literal["cancelled"] | None:
        """See `Snapshot`."""
        return self.snapshot().status_of(call)

    @property
    def plan(self) -> Sequence[v1.PlanEntry]:
        """See `Snapshot`."""
        return self.snapshot().plan

    @property
    def available_modes(self) -> Sequence[v1.SessionMode]:
        """See `Snapshot`."""
        return self.snapshot().available_modes

    @property
    def current_mode_id(self) -> str | None:
        """See `Snapshot`."""
        return self.snapshot().current_mode_id

    @property
    def config_options(self) -> Sequence[v1.SessionConfigOption]:
        """See `Snapshot`."""
        return self.snapshot().config_options

    @property
    def available_commands(self) -> Sequence[v1.AvailableCommand]:
        """See `Snapshot`."""
        return self.snapshot().available_commands

    @property
    def usage(self) -> v1.UsageUpdate | None:
        """See `Snapshot`."""
        return self.snapshot().usage

    @property
    def title(self) -> str | None:
        """See `Snapshot`."""
        return self.snapshot().title

    @property
    def updated_at(self) -> str | None:
        """See `Snapshot`."""
        return self.snapshot().updated_at

    @property
    def notices(self) -> Sequence[v1.Notice]:
        """See `Snapshot`."""
        return self.snapshot().notices

    def _before_change(self) -> None:
        self._snapshot = None
        if self._tool_calls is not None and self._tool_calls() is not None:
            self._timeline.tool_calls = self._timeline.tool_calls.copy()
        self._tool_calls = None
