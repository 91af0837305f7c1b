"""Histories in memory: for tests, and for agents whose sessions end with the process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_kit.common.sequences import check_sequence
from acp_kit.history.bodies import check_sendable
from acp_kit.history.errors import SessionExists, UnknownSession
from acp_kit.history.listing import check_limit, cursor_after, now, read_cursor
from acp_kit.history.session_ids import check_new_id
from acp_kit.history.store import HistoryStore
from acp_kit.updates.timeline import Timeline
from acp_runtime import ABSENT

if TYPE_CHECKING:
    from acp_bindings.v1 import ListSessionsResponse, SessionInfo, SessionUpdate


@dataclass
class _History:
    """The history of one session."""

    cwd: str
    additional_directories: Sequence[str]
    updated_at: str
    timeline: Timeline = field(default_factory=lambda: Timeline(keeps_unknown=True))


class MemoryHistory(HistoryStore):
    """A `HistoryStore` in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, _History] = {}

    async def create(self, session_id: str, *, cwd: str, additional_directories: Sequence[str] = ()) -> None:
        """See `HistoryStore.create`."""
        directories = tuple(check_sequence("additional_directories", additional_directories))
        self._add(session_id, _History(cwd, directories, now()))

    async def append(self, session_id: str, *updates: SessionUpdate) -> None:
        """See `HistoryStore.append`."""
        history = self._session(session_id)
        for update in updates:
            check_sendable(update)
        for update in updates:
            history.timeline.apply(update)
        history.updated_at = now()

    async def read(self, session_id: str) -> AsyncGenerator[SessionUpdate, None]:
        """See `HistoryStore.read`."""
        for update in self._session(session_id).timeline.updates():
            yield update

    async def info(self, session_id: str) -> SessionInfo:
        """See `HistoryStore.info`."""
        from acp_bindings.v1 import SessionInfo

        history = self._session(session_id)
        info = history.timeline.settings.get("session_info_update")
        return SessionInfo(
            session_id=session_id,
            cwd=history.cwd,
            additional_directories=[*history.additional_directories],
            title=None if info is None else info.title,
            updated_at=history.updated_at,
        )

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, limit: int = 50) -> ListSessionsResponse:
        """See `HistoryStore.list`."""
        from acp_bindings.v1 import ListSessionsResponse

        limit = check_limit(limit)
        before = None if cursor is None else read_cursor(cursor)
        keys = [(session.updated_at, id) for id, session in self._sessions.items() if cwd in (None, session.cwd)]
        keys = sorted((key for key in keys if before is None or key < before), reverse=True)
        sessions = [await self.info(session_id) for _, session_id in keys[:limit]]
        next_cursor = cursor_after(*keys[limit - 1]) if len(keys) > limit else ABSENT
        return ListSessionsResponse(sessions=sessions, next_cursor=next_cursor)

    async def set_directories(self, session_id: str, additional_directories: Sequence[str]) -> None:
        """See `HistoryStore.set_directories`."""
        directories = tuple(check_sequence("additional_directories", additional_directories))
        self._session(session_id).additional_directories = directories

    async def delete(self, session_id: str) -> None:
        """See `HistoryStore.delete`."""
        self._sessions.pop(session_id, None)

    async def fork(
        self,
        session_id: str,
        new_session_id: str,
        *,
        cwd: str | None = None,
        additional_directories: Sequence[str] = (),
    ) -> None:
        """See `HistoryStore.fork`."""
        directories = tuple(check_sequence("additional_directories", additional_directories))
        history = self._session(session_id)
        copy = _History(history.cwd if cwd is None else cwd, directories, now())
        for update in history.timeline.updates():
            copy.timeline.apply(update)
        self._add(new_session_id, copy)

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
