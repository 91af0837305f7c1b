"""The open sessions of an agent, which are attributes of its proxy, and the handler that passes updates to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from acp_runtime import InvalidParams
from acp_runtime.escaping import printable

if TYPE_CHECKING:
    from acp_bindings import v1
    from acp_kit.client.state import SessionState


class OpenSession(Protocol):
    """A session that `open_session` has opened."""

    agent: v1.RemoteAgent
    id: str
    state: SessionState

    @property
    def roots(self) -> Sequence[str]:
        """Its folders."""
        ...

    def apply(self, notification: v1.SessionNotification) -> None:
        """Merge an update into the state, and pass it on to the turn."""


class OpenSessions(dict[str, OpenSession]):
    """The open sessions of an agent, by id.

    Attributes:
        is_delivery_known: whether the client has delivered an update, or was warned that it hasn't.
        is_used: whether `open_session` was used. Then it has opened all sessions of the client.
    """

    is_delivery_known = False
    is_used = False


class UpdateHandlers:
    """Handles `session/update` for sessions that `open_session` opened with `self.agent`, which the subclass sets."""

    agent: v1.RemoteAgent

    async def session_update(self, notification: v1.SessionNotification, /) -> None:
        """Merge an update into the state of its session, and pass it on to the turn."""
        deliver_update(self.agent, notification)


def sessions_of(agent: v1.RemoteAgent) -> OpenSessions:
    """Return the open sessions of an agent."""
    sessions: OpenSessions = vars(agent).setdefault("open_sessions", OpenSessions())
    return sessions


def deliver_update(agent: v1.RemoteAgent, notification: v1.SessionNotification) -> bool:
    """Pass an update on to the session that `open_session` has opened. Call it in `Client.session_update`.

        async def session_update(self, notification: SessionNotification) -> None:
            deliver_update(self.agent, notification)

    It never waits for the program that reads the updates.

    Returns:
        Whether there is such a session.
    """
    sessions = sessions_of(agent)
    sessions.is_delivery_known = True
    session = sessions.get(notification.session_id)
    if session is not None:
        session.apply(notification)
    return session is not None


def roots_of(agent: v1.RemoteAgent | None, session_id: str) -> Sequence[str] | None:
    """Return the folders of a session; None if nothing is known of sessions, because `open_session` isn't used.

    Raises:
        InvalidParams: if the session isn't open.
    """
    if agent is None or not (sessions := sessions_of(agent)).is_used:
        return None
    if session_id not in sessions:
        raise InvalidParams(f"The session {printable(session_id)!r} isn't open.", {"sessionId": session_id})
    return sessions[session_id].roots


def remember(session: OpenSession) -> None:
    """Add a session."""
    sessions = sessions_of(session.agent)
    sessions[session.id] = session
    sessions.is_used = True


def forget(session: OpenSession) -> None:
    """Remove a session, unless another one has its id now."""
    sessions = sessions_of(session.agent)
    if sessions.get(session.id) is session:
        del sessions[session.id]
