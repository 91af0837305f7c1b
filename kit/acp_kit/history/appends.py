"""Lets the appends of several tasks share a commit, since a commit costs much more than an append."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from acp_kit.history.errors import ConnectionLost

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate

Commit: TypeAlias = "Callable[[Mapping[str, Sequence[SessionUpdate]]], Awaitable[None]]"


@dataclass(eq=False)
class _Append:
    """An append that waits for its commit.

    Attributes:
        is_alone: whether it needs a commit of its own, because one together with others has failed.
        is_done: whether it was committed, or has failed with `error`.
    """

    session_id: str
    updates: Sequence[SessionUpdate]
    is_alone: bool = False
    is_done: bool = False
    error: ConnectionLost | None = None


class Appends:
    """The appends that wait until it is their turn to write. The first one commits all of them.

    Args:
        writing: held while anything is written.
        commit: appends updates by session id, all of them or none.
    """

    def __init__(self, writing: asyncio.Lock, commit: Commit) -> None:
        self._writing = writing
        self._commit = commit
        self._waiting: list[_Append] = []

    async def append(self, session_id: str, updates: Sequence[SessionUpdate]) -> None:
        """Append updates, and return when they are committed. It must not be cancelled."""
        mine = _Append(session_id, updates)
        self._waiting.append(mine)
        try:
            async with self._writing:
                if not mine.is_done:
                    await self._commit_with_others(mine)
                elif mine.error is not None:
                    raise ConnectionLost(str(mine.error)) from mine.error
        finally:
            self._waiting = [each for each in self._waiting if each is not mine and not each.is_done]

    async def _commit_with_others(self, mine: _Append) -> None:
        together = [mine, *(each for each in self._waiting if each is not mine and not each.is_alone)]
        try:
            await self._commit_all(together)
        except Exception as error:
            if isinstance(error, ConnectionLost):
                # Maybe after the commit, and nothing may be appended twice.
                for each in together:
                    each.is_done, each.error = True, error
                raise
            # One of them is wrong, for example because its session is unknown. Each finds out alone.
            if len(together) == 1:
                raise
            for each in together:
                each.is_alone = True
            await self._commit_all([mine])

    async def _commit_all(self, appends: Sequence[_Append]) -> None:
        by_session: dict[str, list[SessionUpdate]] = {}
        for each in appends:
            by_session.setdefault(each.session_id, []).extend(each.updates)
        await self._commit(by_session)
        for each in appends:
            each.is_done = True
