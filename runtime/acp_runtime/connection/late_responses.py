"""Late responses: a prompt waits until the cancelled prompt before it in its session was answered (rule 19)."""

from __future__ import annotations

import asyncio
from logging import WARNING, getLogger

from acp_runtime.logs import ThrottledLogger

_logger = getLogger(__name__)


class LateResponses:
    """The cancelled calls of each session that have no response yet.

    Args:
        deadline: how long to wait for their responses, in seconds.

    Attributes:
        expected: for each session with such calls, a future that is done when all responses have arrived.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self._sessions: dict[int, str] = {}
        self.expected: dict[str, asyncio.Future[None]] = {}
        self._log = ThrottledLogger(_logger)

    def expects(self, session: str) -> bool:
        """Whether a session has such calls."""
        return session in self.expected

    def expect(self, id: int, session: str) -> None:
        """Add a cancelled call."""
        self._sessions[id] = session
        if session not in self.expected:
            self.expected[session] = self._loop.create_future()

    def arrived(self, id: int) -> None:
        """Note that the response to a cancelled call has arrived."""
        session = self._sessions.pop(id, None)
        if session is not None and session not in self._sessions.values():
            self._forget(session)

    def close(self) -> None:
        """Stop waiting: no response will arrive."""
        for session in list(self.expected):
            self._forget(session)

    async def wait(self, wire: str, session: str) -> None:
        """Wait until a session expects no response, at most until the deadline; then log a warning."""
        expected = self.expected.get(session)
        if expected is None:
            return
        await asyncio.wait({expected}, timeout=self._deadline)
        if not expected.done():
            self._log.log(
                WARNING,
                "late",
                "Sending %s although the cancelled one before it in its session was not answered within %s s "
                "(Options.late_answer_deadline)",
                wire,
                self._deadline,
            )
            self._sessions = {id: each for id, each in self._sessions.items() if each != session}
            self._forget(session)

    def _forget(self, session: str) -> None:
        """Resolve the future of a session and remove it."""
        expected = self.expected.pop(session, None)
        if expected is not None and not expected.done():
            expected.set_result(None)
