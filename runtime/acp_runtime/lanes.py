"""Notifications in order: one queue and one consumer for each session, and what waits behind them (rules 15 and 16).

A session's consumer lives while its queue isn't empty, so an idle session costs nothing. Knows sessions only as keys.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from acp_runtime.flow import Activity, Default, Flow, activity
from acp_runtime.messages import IncomingNotification

Session: TypeAlias = str | None
Handle: TypeAlias = Callable[[IncomingNotification], Awaitable[None]]
Spawn: TypeAlias = Callable[[Any], "asyncio.Task[Any]"]


@dataclass(slots=True)
class _Queued:
    notification: IncomingNotification
    size: int


_Item: TypeAlias = _Queued | Callable[[], None]


class Lanes:
    """The queues of a connection.

    Args:
        handle: handles one notification; never raises but for cancellation.
        spawn: creates a task that the connection owns.
        flow: is told of each message that was handled.
        keep: how many notifications may wait for their session to be announced.
        default: what the handlers' base class does with a notification.
    """

    def __init__(self, handle: Handle, spawn: Spawn, flow: Flow, keep: int, default: Default) -> None:
        self._handle = handle
        self._default = default
        self._spawn = spawn
        self._flow = flow
        self._keep = keep
        self._lanes: dict[Session, deque[_Item]] = {}
        self._known: set[str] = set()
        self._announcements = 0
        self._kept: dict[str, list[_Queued]] = {}
        self._kept_count = 0

    def put(self, session: Session, notification: IncomingNotification, size: int) -> None:
        """Handle a notification after those of its session that came before it."""
        item = _Queued(notification, size)
        if self._announcements and session is not None and session not in self._known:
            self._kept.setdefault(session, []).append(item)
            self._kept_count += 1
            # Better early than never: what is kept can't be handled, so it would stop the reader for good.
            if self._kept_count >= self._keep:
                self._release_all()
            return
        self._enqueue(session, item)

    def after(self, session: Session, callback: Callable[[], None]) -> None:
        """Call back when the notifications of a session that are here have been handled; at once if none are."""
        lane = self._lanes.get(session) if session is not None else None
        if lane is None:
            callback()
        else:
            lane.append(callback)

    def know(self, session: str) -> None:
        """This side has used the id of a session, so its notifications need not be kept."""
        self._known.add(session)

    def expect_announcement(self) -> None:
        """A call is out whose result names a new session; what comes for unknown sessions is kept until then."""
        self._announcements += 1

    def announced(self, session: str | None) -> None:
        """Such a call has ended, with the id of a session or without one. Its caller has been resolved."""
        self._announcements -= 1
        if session is not None:
            self._known.add(session)
            self._release(session)
        if not self._announcements:
            self._release_all()

    def _release_all(self) -> None:
        for session in list(self._kept):
            self._release(session)

    def _release(self, session: str) -> None:
        items = self._kept.pop(session, [])
        self._kept_count -= len(items)
        for item in items:
            self._enqueue(session, item)

    def _enqueue(self, session: Session, item: _Item) -> None:
        lane = self._lanes.get(session)
        if lane is not None:
            lane.append(item)
            return
        self._lanes[session] = lane = deque([item])
        self._flow.start_runner()
        self._spawn(self._consume(session, lane)).add_done_callback(lambda _: self._ended(session, lane))

    async def _consume(self, session: Session, lane: deque[_Item]) -> None:
        # The item stays in the lane while it is handled: `after` has to see that the lane is busy.
        while lane:
            item = lane[0]
            if isinstance(item, _Queued):
                await self._handle_one(item)
            else:
                item()
            lane.popleft()
        # Here and not when the task has ended: what arrives in between would be put into a lane that nobody empties.
        del self._lanes[session]

    async def _handle_one(self, item: _Queued) -> None:
        current = Activity(ordered=True, default=self._default)
        activity.set(current)
        try:
            await self._handle(item.notification)
        finally:
            self._flow.end_activity(current)
            self._flow.leave(item.size)

    def _ended(self, session: Session, lane: deque[_Item]) -> None:
        """Also when it was cancelled: what is left is not handled, but nobody waits for it in vain."""
        if self._lanes.get(session) is lane:
            del self._lanes[session]
        self._flow.end_runner()
        for item in lane:
            if not isinstance(item, _Queued):
                item()
