"""Merges the updates of a session into what a client can show."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import ref

from acp_kit.client.snapshots import Shown, Snapshot
from acp_kit.common.profiles import like
from acp_kit.updates.merging import given_fields, values_of
from acp_kit.updates.table import TABLE, tag_of
from acp_kit.updates.timeline import Timeline, Update

if TYPE_CHECKING:
    from acp_bindings import v1


class _ToolCalls(Mapping[str, Any]):
    """The tool calls by id at one moment. The state copies them when they change, if somebody still has this."""

    def __init__(self, calls: Mapping[str, Any]) -> None:
        self._calls = calls

    def __getitem__(self, tool_call_id: str) -> Any:
        return self._calls[tool_call_id]

    def __iter__(self) -> Iterator[str]:
        yield from self._calls  # which keeps `self` until the end

    def __len__(self) -> int:
        return len(self._calls)

    def __repr__(self) -> str:
        return repr(self._calls)


class SessionState(Shown):
    """A session as its updates describe it. Feed it with `apply`; read it here, or take a `snapshot`.

    For example:

        async def session_update(self, notification: SessionNotification) -> None:
            self.states[notification.session_id].apply(notification.update)

    Applying an update takes time proportional to the size of the update, however long the session is. All attributes
    that a `Snapshot` has can also be read here.

    A tool call that is started while it runs gets what the new start says. One that is started after its end is
    another tool call, and later updates with its id are for that: models use ids again, and so do agents.
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
        """Merge the tool call of a permission request, as `PermissionHandlers` does. It may come before its start.

        Returns:
            The tool call with everything known about it. Many agents send only its id with the request.
        """
        self.apply(update)
        known = given_fields(self.tool_calls[update.tool_call_id]).items()
        fields = type(update).model_fields
        return update.model_copy(update={name: value for name, value in known if name in fields and value != ""})

    def opened(self, response: v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse) -> None:
        """Take the modes and the options from the response that created, loaded or resumed the session."""
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
        """Merge the history that the agent sends during the block, which this state has already, at least in part:

            with state.replayed():
                await agent.session_load(session_id=id, cwd=cwd, mcp_servers=[])

        Nothing is shown twice, and nothing is lost if the agent sends less than was shown. In the block, the state has
        only what the agent has sent so far. If the block raises, the state is as before.
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
        """Let the next chunk start a new message, though it may have the role and the id of the last one.

        Call it at the end of a turn: without it, the messages of two turns are one if the agent gives them no ids and
        nothing comes between them. Tool calls that only permission requests have named are removed, because some agents
        ask under another id than that of the tool call.
        """
        self._before_change()
        self._timeline.end_message()
        self._timeline.drop_unreported_calls()

    def snapshot(self) -> Snapshot:
        """Return what can be shown now. It is immutable, and the same object until the next change."""
        if self._snapshot is None:
            timeline = self._timeline
            timeline.refresh()
            self._snapshot = Snapshot(
                {
                    "timeline": tuple(timeline.entries.values()),
                    "tool_calls": self.tool_calls,
                    "notices": tuple(timeline.notices),
                    "available_modes": self._available_modes,
                    **values_of(timeline.settings),
                }
            )
        return self._snapshot

    if not TYPE_CHECKING:  # for type checkers, `Shown` has it

        @property
        def tool_calls(self):
            """The tool calls by id, with all updates merged."""
            calls = None if self._tool_calls is None else self._tool_calls()
            if calls is None:
                calls = _ToolCalls(self._timeline.tool_calls)
                self._tool_calls = ref(calls)
            return calls

    def _before_change(self) -> None:
        self._snapshot = None
        if self._tool_calls is not None and self._tool_calls() is not None:
            self._timeline.tool_calls = self._timeline.tool_calls.copy()
        self._tool_calls = None


def _current(name: str) -> property:
    def current(state: SessionState) -> Any:
        return getattr(state.snapshot(), name)

    return property(current)


# Not `__getattr__`, with which Python finds every attribute more slowly.
for _name in Shown.__annotations__.keys() - vars(SessionState).keys():
    setattr(SessionState, _name, _current(_name))
