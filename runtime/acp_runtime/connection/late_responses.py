"""Prompts wait for the late answer to one of their session that was cancelled (rule 19)."""

from __future__ import annotations

import asyncio
from logging import WARNING, getLogger

from acp_runtime.logs import ThrottledLogger

_logger = getLogger(__name__)


class LateResponses:
    """The cancelled calls of each session that have no answer yet.

    Args:
        deadline: how long to wait for them, in seconds.

    Attributes:
        expected: the sessions that have some, and what is done when they have come.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self._sessions: dict[int, str] = {}
        self.expected: dict[str, asyncio.Future[None]] = {}
        self._log = ThrottledLogger(_logger)

    def expects(self, session: str) -> bool:
        """Whether one is expected in a session."""
        return session in self.expected

    def expect(self, id: int, session: str) -> None:
        """The call with this id was cancelled."""
        self._sessions[id] = session
        if session not in self.expected:
            self.expected[session] = self._loop.create_future()

    def arrived(self, id: int) -> None:
        """The answer to a cancelled call has come."""
        session = self._sessions.pop(id, None)
        if session is not None and session not in self._sessions.values():
            self._forget(session)

    def close(self) -> None:
        """No answer will come anymore."""
        for session in list(self.expected):
            self._forget(session)

    async def wait(self, wire: str, session: str) -> None:
        """Wait until a session expects no answer anymore, or until the deadline, with a warning."""
        expected = self.expected.get(session)
        if expected is None:
            return
        await asyncio.wait({expected}, timeout=self._deadline)
        if not expected.done():
            self._log.log(
                WARNING,
                "late",
                "%s is sent although the one before it in its session, which was cancelled, has no answer after %s s",
                wire,
                self._deadline,
            )
            self._sessions = {id: each for id, each in self._sessions.items() if each != session}
            self._forget(session)

    def _forget(self, session: str) -> None:
        """Nothing is expected in a session anymore."""
        expected = self.expected.pop(session, None)
        if expected is not None and not expected.done():
            expected.set_result(None)
