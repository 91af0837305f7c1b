"""Histories in memory, for agents that need none after their end, and for tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from acp_kit.history.errors import SessionExists, UnknownSession
from acp_kit.history.listing import check_new_id, checked_limit, cursor_after, now, read_cursor
from acp_kit.history.merging import CHUNKS, LIVE, SETTINGS, TOOL_CALLS, latest, merged, message_key
from acp_kit.updates import patched, started
from acp_runtime import ABSENT

if TYPE_CHECKING:
    from acp_bindings.v1 import ListSessionsResponse, SessionInfo, SessionUpdate


@dataclass
class _History:
    """The history of one session.

    Attributes:
        entries: the entries of the timeline.
        tool_calls: where each tool call is in `entries`.
        settings: the last update of each setting, by tag.
        open_from: where the last message starts in `entries`, while its chunks are not merged for good.
        open_key: the key of that message; None if there is none.
    """

    cwd: str
    additional_directories: Sequence[str]
    updated_at: str
    entries: list[Any] = field(default_factory=list[Any])
    tool_calls: dict[str, int] = field(default_factory=dict[str, int])
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    open_from: int = 0
    open_key: str | None = None

    def append(self, update: Any) -> None:
        tag = update.session_update
        if tag in SETTINGS:
            self.settings[tag] = latest(self.settings.get(tag), update)
        elif tag in TOOL_CALLS:
            self._append_tool_call(update)
        elif tag in CHUNKS:
            self._append_chunk(update)
        elif tag not in LIVE:
            self._end_message()
            self.entries.append(update)

    def merge_message(self) -> None:
        """Merge the chunks of the last message. Further ones may follow."""
        if self.open_key is not None:
            self.entries[self.open_from :] = merged(self.entries[self.open_from :])

    def _end_message(self) -> None:
        self.merge_message()
        self.open_key = None

    def _append_chunk(self, chunk: Any) -> None:
        key = message_key(chunk)
        if key != self.open_key:
            self._end_message()
            self.open_key, self.open_from = key, len(self.entries)
        self.entries.append(chunk)

    def _append_tool_call(self, update: Any) -> None:
        is_start = update.session_update == "tool_call"
        position = self.tool_calls.get(update.tool_call_id)
        if position is not None:
            self.entries[position] = update if is_start else patched(self.entries[position], update)
            return
        self._end_message()
        self.tool_calls[update.tool_call_id] = len(self.entries)
        self.entries.append(update if is_start else started(update))


class MemoryHistory:
    """A `HistoryStore` in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, _History] = {}

    async def create(self, session_id: str, *, cwd: str, additional_directories: Sequence[str] = ()) -> None:
        """See `HistoryStore.create`."""
        self._add(session_id, _History(cwd, tuple(additional_directories), now()))

    async def append(self, session_id: str, *updates: SessionUpdate) -> None:
        """See `HistoryStore.append`."""
        history = self._session(session_id)
        for update in updates:
            history.append(update)
        history.updated_at = now()

    async def read(self, session_id: str) -> AsyncGenerator[SessionUpdate, None]:
        """See `HistoryStore.read`."""
        history = self._session(session_id)
        history.merge_message()
        for position in range(len(history.entries)):
            yield history.entries[position]
        for update in list(history.settings.values()):
            yield update

    async def info(self, session_id: str) -> SessionInfo:
        """See `HistoryStore.info`."""
        from acp_bindings.v1 import SessionInfo

        history = self._session(session_id)
        known = history.settings.get("session_info_update")
        return SessionInfo(
            session_id=session_id,
            cwd=history.cwd,
            additional_directories=[*history.additional_directories],
            title=None if known is None else known.title,
            updated_at=history.updated_at,
        )

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, limit: int = 50) -> ListSessionsResponse:
        """See `HistoryStore.list`."""
        from acp_bindings.v1 import ListSessionsResponse

        limit = checked_limit(limit)
        before = None if cursor is None else read_cursor(cursor)
        every = ((each.updated_at, name) for name, each in self._sessions.items() if cwd in (None, each.cwd))
        keys = sorted((key for key in every if before is None or key < before), reverse=True)
        sessions = [await self.info(session_id) for _, session_id in keys[:limit]]
        next_cursor = cursor_after(*keys[limit - 1]) if len(keys) > limit else ABSENT
        return ListSessionsResponse(sessions=sessions, next_cursor=next_cursor)

    async def rename(self, session_id: str, title: str | None) -> None:
        """See `HistoryStore.rename`."""
        from acp_bindings.v1 import SessionUpdateSessionInfoUpdate

        await self.append(session_id, SessionUpdateSessionInfoUpdate(title=title))

    async def delete(self, session_id: str) -> None:
        """See `HistoryStore.delete`."""
        self._sessions.pop(session_id, None)

    async def fork(self, session_id: str, new_session_id: str, *, cwd: str | None = None) -> None:
        """See `HistoryStore.fork`."""
        history = self._session(session_id)
        mutable = {name: copy(getattr(history, name)) for name in ("entries", "tool_calls", "settings")}
        self._add(
            new_session_id, replace(history, cwd=history.cwd if cwd is None else cwd, updated_at=now(), **mutable)
        )

    def _add(self, session_id: str, history: _History) -> None:
        check_new_id(session_id)
        if session_id in self._sessions:
            raise SessionExists(session_id)
        self._sessions[session_id] = history

    def _session(self, session_id: str) -> _History:
        history = self._sessions.get(session_id)
        if history is None:
            raise UnknownSession(session_id)
        return history
