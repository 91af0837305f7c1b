"""The sessions that are open with each agent. Handlers of a client find a session here by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from acp_bindings.v1 import RemoteAgent, SessionNotification

if TYPE_CHECKING:
    from acp_kit.client.sessions import ClientSession

OPEN: Final[WeakKeyDictionary[RemoteAgent, dict[str, ClientSession]]] = WeakKeyDictionary()
"""The sessions of each agent by id."""


def find_session(agent: RemoteAgent, session_id: str) -> ClientSession | None:
    """Return a session that `open_session` has opened; None if there is none with this id.

    For handlers of a client, which only get the id: to show a dialog in the right window, for example.
    """
    return OPEN.get(agent, {}).get(session_id)


def deliver_update(agent: RemoteAgent, notification: SessionNotification) -> bool:
    """Pass an update on to the session that `open_session` has opened. Call it in `Client.session_update`.

        async def session_update(self, notification: SessionNotification) -> None:
            deliver_update(self.agent, notification)

    It never waits, so a program that reads the updates slowly, or calls the agent while it reads, blocks nothing.

    Returns:
        Whether there is such a session.
    """
    session = find_session(agent, notification.session_id)
    if session is not None:
        session.apply(notification)
    return session is not None


def count_unknown(agent: RemoteAgent, method: str, params: Any) -> None:
    """Count an update of a kind that the schema doesn't know, in the state of its session.

    Call it in `Client.invalid_notification`, which is called for such an update.
    """
    match params:
        case {"sessionId": str(session_id), "update": {"sessionUpdate": str(tag)}} if method == "session/update":
            session = find_session(agent, session_id)
            if session is not None:
                session.state.count_unknown(tag)
        case _:
            return


def forget(session: ClientSession) -> None:
    """Remove a session, unless another one has its place."""
    sessions = OPEN.get(session.agent, {})
    if sessions.get(session.id) is session:
        del sessions[session.id]
