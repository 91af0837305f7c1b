"""Notifications in order: one queue and one consumer for each session, and what waits behind them (rules 15 and 16).

A session's consumer lives while its queue isn't empty, so an idle session costs nothing. Knows sessions only as keys.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from logging import DEBUG, getLogger
from typing import Any, TypeAlias

from acp_runtime.flow import Flow, activity
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingNotification

Session: TypeAlias = str | None
Ended: TypeAlias = Callable[["asyncio.Task[Any]"], None]
Spawn: TypeAlias = Callable[[Any, Ended], "asyncio.Task[Any]"]
_Item: TypeAlias = IncomingNotification | Callable[[], None]
_Lane: TypeAlias = deque[_Item]

_logger = getLogger(__name__)


class Lanes:
    """The queues of a connection.

    Args:
        spawn: creates a task that the connection owns, and tells of its end.
        flow: is told of each message that was handled.
        keep: how many notifications may wait for their session to be announced.

    Attributes:
        closing: the connection ends: a cancellation is meant for the consumer, not for one handler.
    """

    def __init__(self, spawn: Spawn, flow: Flow, keep: int) -> None:
        self._spawn = spawn
        self._flow = flow
        self._most_kept = keep
        self._lanes: dict[Session, _Lane] = {}
        self._known: set[str] = set()
        self._announcements = 0
        self._kept: dict[str, list[IncomingNotification]] = {}
        self._kept_count = 0
        self._log = Throttle(_logger)
        self.closing: bool = False

    def put(self, session: Session, notification: IncomingNotification) -> None:
        """Handle a notification after those of its session that came before it."""
        lane = self._lanes.get(session)
        if lane is not None:
            lane.append(notification)
        elif self._announcements and session is not None and session not in self._known:
            self._keep(session, notification)
        else:
            self._open(session, notification)

    def after(self, session: Session, callback: Callable[[], None]) -> None:
        """Call back when the notifications of a session that are here have been handled; at once if none are."""
        lane = self._lanes.get(session) if session is not None else None
        if lane is None:
            callback()
        else:
            lane.append(callback)

    def know(self, session: str) -> None:
        """This side has used the id of a session, so its notifications need not be kept."""
        if session not in self._known:
            self._known.add(session)
            self._release(session)

    def forget(self, session: str) -> None:
        """A session is closed."""
        self._known.discard(session)

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

    def _keep(self, session: str, notification: IncomingNotification) -> None:
        self._kept.setdefault(session, []).append(notification)
        self._kept_count += 1
        # Better early than never: what is kept can't be handled, so it would stop the reader for good.
        if self._kept_count >= self._most_kept:
            self._release_all()

    def _release_all(self) -> None:
        for session in list(self._kept):
            self._release(session)

    def _release(self, session: str) -> None:
        notifications = self._kept.pop(session, [])
        self._kept_count -= len(notifications)
        for notification in notifications:
            lane = self._lanes.get(session)
            if lane is None:
                self._open(session, notification)
            else:
                lane.append(notification)

    def _open(self, session: Session, notification: IncomingNotification) -> None:
        self._lanes[session] = lane = deque[_Item]((notification,))
        self._flow.start_runner()
        self._spawn(self._consume(session, lane), lambda _: self._ended(session, lane))

    async def _consume(self, session: Session, lane: _Lane) -> None:
        # The item stays in the lane while it is handled: `after` has to see that the lane is busy.
        while lane:
            item = lane[0]
            if isinstance(item, IncomingNotification):
                activity.set(item)
                try:
                    await item.handle(item.params)
                except (Exception, SystemExit, asyncio.CancelledError) as error:
                    self._failed(item, error)
                finally:
                    self._flow.leave(item)
            else:
                item()
            lane.popleft()
        # Here and not when the task has ended: what arrives in between would be put into a lane that nobody empties.
        del self._lanes[session]

    def _failed(self, notification: IncomingNotification, error: BaseException) -> None:
        """Whatever a handler does, the next notifications are handled as well."""
        if not isinstance(error, asyncio.CancelledError):
            self._log.failed(notification.method, error)
            return
        task = asyncio.current_task()
        if self.closing or task is None:
            raise error
        task.uncancel()
        self._log.log(DEBUG, "cancelled", "The handler of %s cancelled itself", notification.method)

    def _ended(self, session: Session, lane: _Lane) -> None:
        """Also when it was cancelled: what is left is not handled, but nobody waits for it in vain."""
        if self._lanes.get(session) is lane:
            del self._lanes[session]
        self._flow.end_runner()
        for item in lane:
            if not isinstance(item, IncomingNotification):
                item()
